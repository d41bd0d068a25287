/* The page of a document: the viewer of its images, and the answers drawn from its data file.
   Every text becomes a text node; nothing from the data is ever read as HTML. */
(() => {
  "use strict";
  const data = (window.histeval || {}).document || null;
  const one = (selector, root) => (root || document).querySelector(selector);
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  function make(tag, options, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "class") element.className = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }

  /* Historical text: its own direction, its own language. */
  const language = () => (one("#answer") || { dataset: {} }).dataset.language || null;
  const historical = (tag, text, extra) =>
    make(tag, { class: "historical" + (extra ? " " + extra : ""), lang: language(), dir: "auto" }, ...[].concat(text));

  const drawing = {};

  /* ---- letters ---- */
  const SIGNS = { right: "✓", wrong: "✗", missed: "○", neutral: "–" };
  const SAID = { right: "right", wrong: "wrong", missed: "missed", neutral: "does not count" };

  function sides(row) {
    const side = (text, which) => {
      if (text === null) return make("span", { class: "soft", "aria-label": "nothing" }, "—");
      if (!text.trim()) return make("span", { class: "soft" }, "(empty)");
      if (!row.diff) return historical("bdi", text);
      const parts = row.diff.map(([expected, found, changed]) => {
        const part = which ? found : expected;
        return part && changed ? make("mark", { class: "changed" }, part) : part;
      });
      return historical("bdi", parts.filter(Boolean));
    };
    return [side(row.expected, 0), side(row.found, 1)];
  }

  drawing.letters = (view) => {
    const body = make("tbody");
    for (const field of view.fields) {
      const rows = field.rows.length ? field.rows : [null];
      rows.forEach((row, place) => {
        const line = make("tr", { class: row ? "mark-" + row.mark : "" });
        if (!place) {
          const [tp, fp, fn] = field.counts;
          line.append(make("th", { scope: "rowgroup", rowspan: rows.length + (field.more ? 1 : 0) }, field.title,
            make("span", { class: "counts" }, `${tp}\u00a0TP · ${fp}\u00a0FP · ${fn}\u00a0FN`), field.headline ? null : make("span", { class: "counts" }, "not in the headline F1")));
        }
        if (!row) {
          line.append(make("td", { class: "soft", colspan: 3 }, "nothing on either side"));
        } else {
          const [expected, found] = sides(row);
          line.append(make("td", {}, expected), make("td", {}, found),
            make("td", { class: "because" }, make("div", { class: "finding" }, make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[row.mark]),
              make("span", {}, make("strong", { class: "visually-hidden" }, SAID[row.mark] + ": "), row.label,
                ...row.counts.map((kind) => make("span", { class: "badge" }, kind)),
                row.why ? make("span", { class: "why" }, make("bdi", {}, row.why)) : null))));
        }
        body.append(line);
      });
      if (field.more) body.append(make("tr", {}, make("td", { colspan: 3, class: "soft" }, `and ${field.more} more`)));
    }
    return [make("div", { class: "scroll" }, make("table", { class: "fields" },
      make("caption", { class: "visually-hidden" }, "Each name with the reason why it counted or not"),
      make("thead", {}, make("tr", {}, ...["Field", "Ground truth", "Answer", "Why"].map((title) => make("th", { scope: "col" }, title)))),
      body))];
  };

  /* ---- manuscripts ---- */
  const causesOf = (numbers) => numbers.map(([place, count]) => {
    const [, , meaning] = data.causes[place];
    return `${meaning} (${count})`;
  }).join("; ");

  function pieces(parts, side) {
    return parts.map((part) => {
      if (typeof part === "string") return part;
      const [text, group, numbers] = part;
      return make(side ? "ins" : "del", { class: "cause " + group, title: causesOf(numbers) }, text);
    });
  }

  drawing.manuscripts = (view, state) => {
    const level = state.level || "characters";
    const switcher = make("div", { class: "levels", role: "group", "aria-label": "Show differences by" });
    for (const [name, title] of [["characters", "Characters"], ["words", "Words"]]) {
      const button = make("button", { type: "button", class: "control", "aria-pressed": String(level === name) }, title);
      button.addEventListener("click", () => { state.level = name; state.draw(); one(`.levels [aria-pressed=true]`).focus(); });
      switcher.append(button);
    }
    const drawn = [switcher, make("p", { class: "soft small" }, data.about)];
    for (const text of view.texts) {
      const shown = text[level];
      const head = make("div", { class: "text-head" }, make("h3", {}, text.title));
      if (text.numbers) for (const [name, value] of text.numbers) head.append(make("span", { class: "measure" }, make("span", { class: "soft" }, name + " "), value));
      drawn.push(head);
      for (const note of text.notes || []) drawn.push(make("p", { class: "note" }, note));
      if (!shown) continue;
      const body = make("tbody");
      shown.rows.forEach(([truth, answer], place) => {
        body.append(make("tr", {},
          make("td", { class: "line-number soft", "aria-hidden": "true" }, shown.rows.length > 1 ? String(place + 1) : ""),
          make("td", {}, historical("div", pieces(truth, 0), "lines")),
          make("td", {}, historical("div", pieces(answer, 1), "lines"))));
      });
      drawn.push(make("table", { class: "aligned" },
        make("caption", { class: "visually-hidden" }, text.title + ": ground truth beside answer, line by line"),
        make("thead", {}, make("tr", {}, make("td", {}), make("th", { scope: "col" }, "Ground truth"), make("th", { scope: "col" }, "Answer"))),
        body));
      if (shown.changes.length) {
        const list = make("tbody");
        for (const [truth, answer, numbers, count] of shown.changes) {
          list.append(make("tr", {}, make("td", {}, truth ? historical("bdi", truth, "lines") : make("span", { class: "soft" }, "nothing")),
            make("td", {}, answer ? historical("bdi", answer, "lines") : make("span", { class: "soft" }, "nothing")),
            make("td", {}, causesOf(numbers)), make("td", { class: "number" }, String(count))));
        }
        const sums = shown.causes.map(([place, count]) => `${data.causes[place][0].replaceAll("_", " ")} ${count}`).join(", ");
        drawn.push(make("details", { class: "changes" },
          make("summary", {}, `${shown.edits} edits by ${level === "words" ? "word" : "character"}: ${sums}`),
          make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {},
            ...["Ground truth", "Answer", "Cause (edits)", "Times"].map((title, place) => make("th", { scope: "col", class: place === 3 ? "number" : "" }, title)))), list)),
          shown.more ? make("p", { class: "soft" }, `and ${shown.more} more`) : null));
      }
    }
    return drawn;
  };

  /* ---- directories ---- */
  drawing.directories = (view) => {
    const text = make("div", { class: "spans", dir: "auto", lang: language(), role: "img", "aria-label": "The entry with its entities: ground truth above the text, answer below; the table lists them all" });
    for (const [words, above, below] of view.pieces) {
      const lane = (bar) => {
        if (!bar) return make("span", { class: "bar empty" });
        const [kind, label, edges] = bar;
        return make("span", { class: `bar k-${kind} ${edges}` }, label ? make("b", {}, label) : "");
      };
      text.append(make("span", { class: "piece" },
        make("span", { class: "lanes above" }, ...above.map(lane)),
        make("span", { class: "word historical" }, words),
        make("span", { class: "lanes below" }, ...below.map(lane))));
    }
    const body = make("tbody");
    for (const [kind, sign, label, gold, found, why] of view.entities) {
      const side = (entity) => entity
        ? make("td", {}, make("b", { class: "type" }, entity[0]), " ", make("span", { class: "soft" }, entity[1]), " ", historical("bdi", entity[2]))
        : make("td", { class: "soft" }, "—");
      body.append(make("tr", { class: "kind-" + kind }, make("td", {}, make("div", { class: "finding" },
        make("span", { class: "sign", "aria-hidden": "true" }, sign), make("span", {}, label, why ? make("span", { class: "why" }, why) : null))), side(gold), side(found)));
    }
    return [
      make("div", { class: "spans-frame" }, make("div", { class: "sides soft", "aria-hidden": "true" }, make("span", {}, "ground truth above"), make("span", {}, "answer below")), text),
      make("div", { class: "scroll" }, make("table", { class: "entities" },
        make("caption", {}, view.summary),
        make("thead", {}, make("tr", {}, ...["", "Ground truth", "Answer"].map((title) => make(title ? "th" : "td", title ? { scope: "col" } : {}, title)))), body))];
  };

  /* ---- an answer ---- */
  function draw(view, state) {
    const target = one("#answer");
    const parts = [];
    if (view.failure) {
      parts.push(make("p", { class: "note warn failure" }, make("strong", {}, "Failed: "), view.failure.why,
        view.failure.detail ? make("span", { class: "why" }, make("bdi", {}, view.failure.detail)) : null));
    }
    parts.push(...(drawing[data.task] ? drawing[data.task](view, state) : []));
    if (view.notes) parts.push(make("div", { class: "note" }, make("p", {}, "Reading this answer:"), make("ul", {}, ...view.notes.map((note) => make("li", {}, make("bdi", {}, note))))));
    if (view.raw) {
      const title = { text: "Raw answer", record: "Record of the answer", error: "Error of the provider" }[view.raw.kind];
      parts.push(make("details", { class: "raw", open: Boolean(view.failure) }, make("summary", {}, `${title}, ${view.raw.length.toLocaleString("en")} characters`),
        make("pre", { dir: "auto", tabindex: "0" }, view.raw.text), view.raw.cut ? make("p", { class: "note" }, `The answer is ${view.raw.cut}.`) : null));
    } else {
      parts.push(make("p", { class: "soft" }, "There is no raw answer."));
    }
    target.replaceChildren(...parts);
  }

  function answers() {
    const select = one("#system");
    if (!data || !select) return;
    one("[data-picker]").hidden = false;
    const legend = one("[data-legend]");
    if (legend) legend.hidden = false;
    one("#plain").hidden = true;
    const options = Array.from(select.options);
    const state = { draw: () => choose(select.value, false) };

    function choose(fragment, tell) {
      const option = options.find((candidate) => candidate.value === fragment);
      if (!option) return false;
      select.value = fragment;
      const view = data.views[data.of[Number(option.dataset.place)]];
      if (view) draw(view, state);
      const run = one("[data-run]");
      run.hidden = !option.dataset.href;
      if (option.dataset.href) run.setAttribute("href", option.dataset.href);
      for (const row of all("[data-row]")) {
        if (row.dataset.row === fragment) row.setAttribute("aria-current", "true");
        else row.removeAttribute("aria-current");
      }
      for (const link of all("a[data-keep]")) link.setAttribute("href", link.getAttribute("href").split("#")[0] + "#" + fragment);
      if (tell) history.replaceState(null, "", "#" + fragment);
      const permalink = one("#permalink");
      permalink.setAttribute("href", "#" + fragment);
      permalink.textContent = location.href.split("#")[0] + "#" + fragment;
      return true;
    }
    const move = (by) => choose(options[(select.selectedIndex + by + options.length) % options.length].value, true);
    select.addEventListener("change", () => choose(select.value, true));
    one("[data-before]").addEventListener("click", () => move(-1));
    one("[data-after]").addEventListener("click", () => move(1));
    for (const link of all("[data-choose]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        choose(link.dataset.choose, true);
        one(".reading").scrollIntoView({ block: "start" });
        select.focus({ preventScroll: true });
      });
    }
    // Names of systems are plain letters, so the fragment needs no decoding, which a stray "%" would stop.
    window.addEventListener("hashchange", () => choose(location.hash.slice(1), false));
    if (!choose(location.hash.slice(1), false)) choose(options[0].value, false);
    one("[data-permalink]").hidden = false;
    const copy = one("[data-copy]");
    if (navigator.clipboard) {
      copy.hidden = false;
      copy.addEventListener("click", () => navigator.clipboard.writeText(one("#permalink").textContent)
        .then(() => { one("[data-copied]").textContent = "copied"; }, () => { one("[data-copied]").textContent = "select and copy it by hand"; }));
    }
  }

  /* ---- images: zoom and pan ---- */
  function viewer() {
    const root = one("[data-viewer]");
    const links = root ? all("[data-image]", root) : [];
    if (!links.length) return;
    const notes = all(".note", root);
    const images = links.map((link) => ({ src: link.getAttribute("href"), thumb: link.dataset.thumb, width: Number(link.dataset.width), height: Number(link.dataset.height), alt: one("img", link).alt }));
    const picture = make("img", { alt: "", draggable: "false" });
    const stage = make("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "Page image. Plus and minus zoom, arrows move, 0 fits, Page Up and Page Down turn the page." }, picture);
    const button = (label, sign, act) => { const made = make("button", { type: "button", class: "control", "aria-label": label, title: label }, sign); made.addEventListener("click", act); return made; };
    const status = make("span", { class: "soft small", role: "status" });
    const original = make("a", { class: "small", target: "_blank", rel: "noopener" }, "Open image");
    const bar = make("div", { class: "viewer-bar" }, button("Zoom out", "−", () => zoom(1 / 1.4)), button("Zoom in", "+", () => zoom(1.4)),
      button("Fit the page", "Fit", () => fit(true)), button("Fit the width", "Width", () => fit(false)), status, original);
    const thumbs = make("div", { class: "thumbs", role: "group", "aria-label": "Pages" });
    let current = -1, scale = 1, x = 0, y = 0, whole = true;

    const least = () => Math.min(stage.clientWidth / images[current].width, stage.clientHeight / images[current].height, 1) || 1;
    function place() {
      const image = images[current];
      const [width, height] = [image.width * scale, image.height * scale];
      x = width <= stage.clientWidth ? (stage.clientWidth - width) / 2 : Math.min(0, Math.max(stage.clientWidth - width, x));
      y = height <= stage.clientHeight ? (stage.clientHeight - height) / 2 : Math.min(0, Math.max(stage.clientHeight - height, y));
      picture.style.width = width + "px";
      picture.style.height = height + "px";
      picture.style.transform = `translate(${x}px, ${y}px)`;
      stage.classList.toggle("pannable", width > stage.clientWidth + 1 || height > stage.clientHeight + 1);
      status.textContent = (images.length > 1 ? `Page ${current + 1} of ${images.length}, ` : "") + Math.round(scale * 100) + " %";
    }
    function zoom(factor, atX, atY) {
      const before = scale;
      scale = Math.min(8, Math.max(least() * 0.9, scale * factor));
      const [px, py] = [atX === undefined ? stage.clientWidth / 2 : atX, atY === undefined ? stage.clientHeight / 2 : atY];
      x = px - (px - x) * (scale / before);
      y = py - (py - y) * (scale / before);
      whole = null;
      place();
    }
    function fit(page) {
      whole = page;
      scale = page ? least() : stage.clientWidth / images[current].width;
      x = 0; y = 0;
      place();
    }
    function show(number) {
      if (number === current || number < 0 || number >= images.length) return;
      current = number;
      picture.src = images[number].src;
      picture.alt = images[number].alt;
      original.setAttribute("href", images[number].src);
      all("button", thumbs).forEach((thumb, at) => at === number ? thumb.setAttribute("aria-current", "true") : thumb.removeAttribute("aria-current"));
      fit(true);
    }
    images.forEach((image, number) => {
      const thumb = make("button", { type: "button", "aria-label": `Page ${number + 1}` }, make("img", { src: image.thumb, alt: "", loading: "lazy", width: image.width, height: image.height }));
      thumb.addEventListener("click", () => show(number));
      thumbs.append(thumb);
    });
    stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = 60;
      const keys = {
        "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": () => fit(true), "1": () => zoom(1 / scale),
        ArrowLeft: () => { x += step; place(); }, ArrowRight: () => { x -= step; place(); },
        ArrowUp: () => { y += step; place(); }, ArrowDown: () => { y -= step; place(); },
        PageDown: () => show(current + 1), PageUp: () => show(current - 1),
      };
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    });
    stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== stage) return;
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    const fingers = new Map();
    stage.addEventListener("pointerdown", (event) => { stage.setPointerCapture(event.pointerId); fingers.set(event.pointerId, [event.clientX, event.clientY]); });
    stage.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) return;
      if (fingers.size === 2) {
        const [other] = Array.from(fingers).filter(([id]) => id !== event.pointerId).map(([, point]) => point);
        const before = Math.hypot(last[0] - other[0], last[1] - other[1]);
        const after = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
        const box = stage.getBoundingClientRect();
        if (before) zoom(after / before, (event.clientX + other[0]) / 2 - box.left, (event.clientY + other[1]) / 2 - box.top);
      } else {
        x += event.clientX - last[0];
        y += event.clientY - last[1];
        place();
      }
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => fingers.delete(event.pointerId));
    stage.addEventListener("dblclick", (event) => {
      const box = stage.getBoundingClientRect();
      if (scale > least() * 1.05) fit(true);
      else zoom(2.5, event.clientX - box.left, event.clientY - box.top);
    });
    root.replaceChildren(bar, stage, ...(images.length > 1 ? [thumbs] : []), ...notes);
    root.classList.add("live");
    show(0);
    new ResizeObserver(() => (whole === null ? place() : fit(whole))).observe(stage);
  }

  viewer();
  answers();
})();
