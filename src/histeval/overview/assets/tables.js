// Tables: sorting by any column, and the filters of the leaderboard. Without this file the pages still say everything.
(function () {
  "use strict";

  function keyOf(row, column) {
    var cell = row.cells[column];
    if (!cell) return null;
    var value = cell.hasAttribute("data-v") ? cell.getAttribute("data-v") : cell.textContent.trim();
    if (value === "" || value === "–") return null;
    var number = Number(value);
    return Number.isNaN(number) ? value : number;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(table, column, direction) {
    var body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (row, place) {
      return { row: row, key: keyOf(row, column), place: place };
    });
    rows.sort(function (a, b) {
      if (a.key === null || b.key === null) {
        return a.key === b.key ? a.place - b.place : a.key === null ? 1 : -1; // what is missing comes last
      }
      return direction * compare(a.key, b.key) || a.place - b.place;
    });
    var all = document.createDocumentFragment();
    rows.forEach(function (item) { all.appendChild(item.row); });
    body.appendChild(all);
  }

  function makeSortable(table) {
    var heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      if (head.hasAttribute("data-unsorted")) return;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () {
        var before = head.getAttribute("aria-sort");
        // Numbers start with the largest, words and dates with the first.
        var first = head.classList.contains("number") ? "descending" : "ascending";
        var order = before ? (before === "ascending" ? "descending" : "ascending") : first;
        heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", order);
        sort(table, column, order === "ascending" ? 1 : -1);
      });
    });
  }

  // Without case and marks, as people search: "muller" finds "Müller".
  function bare(text) {
    return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  }

  function makeFilters(form) {
    form.hidden = false;
    var table = document.querySelector("table[data-board=main]");
    if (!table) return;
    var rows = Array.from(table.tBodies[0].rows);
    var words = rows.map(function (row) { return bare(row.textContent); });
    var shown = form.querySelector("[data-shown]");

    function apply() {
      var f = new FormData(form);
      var text = bare(String(f.get("text") || "")).trim();
      var provider = f.get("provider"), from = f.get("from"), until = f.get("until");
      var failed = f.get("failed"), top = f.get("top");
      var count = 0;
      rows.forEach(function (row, i) {
        var date = row.getAttribute("data-date"), failures = Number(row.getAttribute("data-failed"));
        var visible = (!text || words[i].indexOf(text) >= 0) &&
          (!provider || row.getAttribute("data-provider") === provider) &&
          (!from || (date && date >= from)) && (!until || (date && date <= until)) &&
          (!failed || (failed === "none" ? failures === 0 : failures > 0)) &&
          (!top || row.classList.contains("top"));
        row.hidden = !visible;
        if (visible) count += 1;
      });
      shown.textContent = count === rows.length ? "" : count + " of " + rows.length + " runs shown";
      remember();
    }

    // The filters live in the address, so that a view can be cited and the protocol switch keeps it.
    function remember() {
      var query = new URLSearchParams();
      new FormData(form).forEach(function (value, name) { if (value) query.append(name, value); });
      var hash = query.toString();
      document.querySelectorAll("a[data-keep-filter]").forEach(function (link) {
        link.setAttribute("href", link.getAttribute("href").split("#")[0] + (hash ? "#" + hash : ""));
      });
      if (hash || location.hash.indexOf("=") >= 0) {
        try { history.replaceState(null, "", hash ? "#" + hash : location.pathname); } catch (e) { /* some file viewers refuse */ }
      }
    }

    var given = new URLSearchParams(location.hash.slice(1));
    given.forEach(function (value, name) {
      var field = form.elements.namedItem(name);
      if (!field || !("value" in field)) return;
      if (field.type === "checkbox") field.checked = true; else field.value = value;
    });
    form.addEventListener("input", apply);
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    apply();
  }

  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  document.querySelectorAll("form[data-filters]").forEach(makeFilters);
  document.documentElement.setAttribute("data-ready", "");
})();
