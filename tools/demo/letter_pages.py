"""The pages of the invented letters, set line by line."""

from __future__ import annotations

import textwrap

from demo.drawing import BLACK, BLUE, CARBON, PENCIL, RED, TYPE, VIOLET, Colour, Sheet

LEFT = 118
LEADING = 34
SIZE = 22
COLUMNS = 59


def wrap(text: str, columns: int = COLUMNS) -> list[str]:
    """Paragraphs (parted by an empty line) as typed lines; a line that starts with `=` is kept as it is."""
    lines: list[str] = []
    for paragraph in textwrap.dedent(text).strip("\n").split("\n\n"):
        if lines:
            lines.append("")
        if paragraph.startswith("="):
            lines.extend(line.removeprefix("=") for line in paragraph.split("\n"))
        else:
            lines.extend(textwrap.wrap(" ".join(paragraph.split()), columns, break_on_hyphens=False))
    return lines


def typed(sheet: Sheet, y: float, text: str, x: float = LEFT, colour: Colour = TYPE, name: str = "courier") -> float:
    return sheet.type(x, y, wrap(text), name, SIZE, LEADING, colour)


def port_head(sheet: Sheet, reference: str) -> None:
    sheet.print(500, 62, "Hafen- und Lagerhaus-Gesellschaft", "serif bold", 37, at="ma")
    sheet.print(500, 108, "LAUTERWÖRTH  A.-G.", "serif", 29, at="ma")
    pen = sheet.ink(BLACK)
    pen.line((118, 152, 890, 152), fill=220, width=2)
    pen.line((118, 157, 890, 157), fill=220, width=1)
    sheet.print(118, 166, "Umschlag · Lagerung · Schleppdienst", "serif italic", 18)
    sheet.print(890, 166, "Fernruf Nr. 38 und 39   ·   Telegramme: Hafenlager", "serif italic", 18, at="ra")
    sheet.print(118, 206, "Unser Zeichen:", "serif", 15)
    sheet.type(232, 222, [reference], "courier", 19, LEADING)


def letter_01_1(sheet: Sheet) -> None:
    port_head(sheet, "Dir. H./Z.")
    y = typed(sheet, 290, "=Lauterwörth, den 14. März 1928.", 452)
    y = typed(
        sheet,
        y + 30,
        "=Herrn Wilhelm Terhoeven\n=i. Fa. Gebr. Terhoeven, Reederei\n=\n=R u h r m ü n d e\n=-----------------",
    )
    y = typed(sheet, y + 34, "=Betr.: Liegeplatz am unteren Becken.")
    y = typed(
        sheet,
        y + 34,
        """
        Sehr geehrter Herr Terhoeven,

        wir kommen zurück auf die Unterredung, welche unser Direktor am 6. ds. Mts. mit Ihnen in
        Ruhrmünde hatte, und bestätigen gerne, dass wir bereit sind, Ihrer Reederei auf die Dauer von
        drei Jahren einen festen Liegeplatz am unteren Becken zu überlassen.

        Die Bedingungen denken wir uns wie folgt:

        1. Der Platz ist für zwei Kähne bis zu je 900 Tonnen bestimmt und liegt zwischen dem Getreidekran
        und der Treppe beim Zollhaus. Ein dritter Kahn wird nur gegen vorherige Anmeldung aufgenommen.

        2. An Ufergeld werden für die Tonne 4 1/2 Pfennig berechnet, zahlbar am Ende des Quartals.
        """,
    )
    typed(sheet, 1368, "=./.", 840)
    sheet.stamp(600, 470, ["Gebr. Terhoeven", "16. MRZ. 1928", "EINGEGANGEN"], VIOLET, 7)


def letter_01_2(sheet: Sheet) -> None:
    y = typed(sheet, 120, "=- 2 -", 470)
    y = typed(
        sheet,
        y + 30,
        """
        3. Bei Hochwasser über der Marke von 5,20 m haben die Kähne das Becken auf unsere Anordnung hin
        zu räumen. Kosten für den Schleppdienst gehen in diesem Falle zu unsern Lasten.

        4. Die Gesellschaft behält sich vor, den Platz nach Ablauf des ersten Jahres mit einer Frist von
        sechs Monaten zu kündigen, falls die Erweiterung des Beckens bis dahin beschlossen sein sollte.

        Wir bitten Sie, uns Ihre Zustimmung bis Ende dieses Monats zu geben, und zeichnen

        =                      mit vorzüglicher Hochachtung
        =
        =            Hafen- und Lagerhaus-Gesellschaft
        =                   Lauterwörth A.-G.
        """,
    )
    typed(sheet, y + 120, "=Der Direktor:          Die Prokuristin:")
    sheet.slanted(150, y + 66, "Th. Halbwachs", "pen", 82, BLUE, 6)
    sheet.flourish([(170, y + 92), (260, y + 74), (380, y + 62), (440, y + 70), (300, y + 90)], BLUE)
    sheet.slanted(470, y + 68, "A. Zurlinden", "lady", 58, BLACK, 4)
    typed(sheet, y + 230, "=1 Beilage: Lageplan.")


def letter_02_1(sheet: Sheet) -> None:
    sheet.print(118, 60, "GEBR. TERHOEVEN", "sans", 44)
    sheet.print(120, 112, "Reederei und Schleppschiffahrt  ·  gegründet 1861", "serif italic", 22)
    sheet.print(890, 68, "RUHRMÜNDE", "sans", 24, at="ra")
    sheet.print(890, 102, "Am Bollwerk 3", "serif", 18, at="ra")
    sheet.ink(BLACK).line((118, 148, 890, 148), fill=230, width=5)
    y = typed(sheet, 226, "=Ruhrmünde, 19. III. 1928", 530)
    y = typed(sheet, y + 24, "=An die\n=Hafen- und Lagerhaus-Gesellschaft A.-G.,\n=Lauterwörth.")
    y = typed(
        sheet,
        y + 40,
        """
        Sehr geehrte Herrschaften,

        Ihr Schreiben vom 14. ds. Mts., das Sie an meine Adresse gerichtet haben, ist mir zugekommen. Ich
        danke Ihnen für die klare Darlegung und kann mich mit den Punkten 1, 2 und 4 einverstanden erklären.

        Zu Punkt 3 muss ich bemerken, dass die Marke von 5,20 m für unsern Kahn "Anna Terhoeven" reichlich
        hoch bemessen ist; sein Führer wünscht schon bei 4,90 m zu verholen. Ich schlage daher vor, die
        niedrigere Marke in den Vertrag aufzunehmen.

        Sobald ich hierüber Ihren Bescheid habe, werde ich die Reinschrift in zwei Ausfertigungen
        unterzeichnen und Ihnen zustellen. Der Schlepper "Graugans" trifft am Dienstag bei Ihnen ein; er
        führt 640 Tonnen Braunkohle für das Gaswerk.

        =                    Hochachtungsvoll
        =                    Gebr. Terhoeven
        """,
    )
    sheet.slanted(400, y + 70, "Wilh. Terhoeven", "hand", 50, BLUE, 5)
    sheet.flourish([(430, y + 92), (560, y + 84), (700, y + 60), (790, y + 52)], BLUE)
    sheet.stamp(110, y + 100, ["Hafengesellschaft", "21. MÄRZ 1928", "erl. ________"], RED, -5)


def letter_03_1(sheet: Sheet) -> None:
    y = typed(sheet, 110, "=D u r c h s c h l a g", 118, CARBON, "worn")
    y = sheet.type(118, y + 34, ["Bankhaus Kesselring & Söhne"], "worn", 20, 30, CARBON)
    y = sheet.type(118, y, ["Lauterwörth, Marktgasse 11"], "worn", 20, 30, CARBON)
    y = sheet.type(540, y + 30, ["den 2. April 1928"], "worn", 20, 30, CARBON)
    y = sheet.type(118, y + 20, wrap("=Herrn\n=Präsidenten Ed. Brandt-Hellweg\n=Hier."), "worn", 20, 32, CARBON)
    text = """
        Hochgeehrter Herr Präsident,

        auf Ihre mündliche Anfrage hin beehren wir uns, Ihnen die Bedingungen mitzuteilen, zu denen
        wir der Hafengesellschaft einen Kredit für die Anschaffung eines Motorbootes einräumen könnten.

        Die Summe von RM 48.000.-- stünde vom 1. Juli an zur Verfügung. Der Zins betrüge 6 3/4 vom
        Hundert im Jahr, die Rückzahlung hätte in zwölf gleichen Raten zu erfolgen, die erste fällig am
        31. Dezember 1929. Als Sicherheit dächten wir an eine Verpfändung des Bootes sowie an eine
        Bürgschaft der Mühlenwerke.

        Wir dürfen beifügen, dass unser Haus an der Entwicklung des Hafens von jeher lebhaften Anteil
        genommen hat, und würden uns freuen, Ihnen auch diesmal dienlich zu sein.

        Genehmigen Sie, Herr Präsident, den Ausdruck unserer vollkommenen Hochachtung.

        =                    Bankhaus Kesselring & Söhne
        =                         Der Seniorchef:
        =
        =                         ...................
        """
    y = sheet.type(118, y + 36, wrap(text, 58), "worn", 20, 33, CARBON)
    sheet.slanted(640, 150, "z. d. Akten", "pencil", 40, PENCIL, 9)


def letter_04_1(sheet: Sheet) -> None:
    y = sheet.type(118, 130, ["A k t e n n o t i z"], "courier", 27, 40)
    y = typed(sheet, y, '=über die Besichtigung des Motorbootes "Wasseramsel"\n=bei der Werft in Kranenwert')
    sheet.ink(TYPE).line((118, y - 18, 700, y - 18), fill=200, width=2)
    y = typed(sheet, y + 30, "=Lauterwörth, 21. 5. 28.\n=A. Z.")
    y = typed(
        sheet,
        y + 40,
        """
        Anwesend waren die Herren Direktor Halbwachs und Lüders, ferner der Unterzeichneten Bruder als
        Sachverständiger für Motoren.

        Das Boot liegt seit dem 9. Mai auf der Helling. Länge 17,40 m, Breite 3,60 m, Tiefgang bei voller
        Besetzung 0,95 m. Es fasst sechzig Personen, davon vierundzwanzig in der Kajüte. Der Rumpf ist
        gesund; zwei Planken am Heck sind auszuwechseln.

        Der Motor (60 PS, Baujahr 1924) lief während einer Stunde ohne Tadel. Herr Lüders hält eine
        Überholung der Welle für ratsam und wird dafür eine Offerte stellen.

        Es wurde vereinbart, den Namen des Bootes beizubehalten.

        =Geht an: Präsident, Direktor, Akten Wasseramsel.
        """,
    )
    sheet.slanted(650, 314, "gesehen  Br.", "pencil", 44, RED, 8)
    sheet.flourish([(640, 338), (720, 330), (800, 316), (880, 310)], RED, 3)


def yard_head(sheet: Sheet) -> None:
    sheet.print(118, 66, "Werft Lüders & Mey", "serif bold", 46)
    sheet.print(118, 122, "Boots- und Schiffbau, Kranenwert a. Rh.", "serif", 23)
    pen = sheet.ink(BLACK)
    # A boat on two waves, as printers kept them for such heads.
    pen.polygon([(742, 112), (886, 112), (862, 138), (766, 138)], fill=220)
    pen.line((800, 112, 800, 62), fill=220, width=3)
    pen.polygon([(804, 66), (850, 104), (804, 104)], fill=220)
    for start in range(734, 890, 26):
        pen.arc((start, 138, start + 26, 154), 180, 360, fill=220, width=2)
    pen.line((118, 168, 890, 168), fill=220, width=2)


def letter_05_1(sheet: Sheet) -> None:
    yard_head(sheet)
    y = typed(sheet, 236, "=Kranenwert, 9. Januar 1929", 500)
    y = typed(sheet, y + 30, "=An die Direktion der\n=Hafen- und Lagerhaus-Gesellschaft\n=\n=Lauterwörth a. Rh.")
    y = typed(sheet, y + 30, '=Offerte No. 217: Motorboot "Wasseramsel"\n=----------------------------------------')
    typed(
        sheet,
        y + 30,
        """
        Sehr geehrter Herr Direktor,

        wie bei der Besichtigung besprochen, gestatten wir uns, Ihnen für die Instandstellung Ihres Bootes
        die nachstehende Offerte zu unterbreiten. Wir haben die Preise so knapp gestellt, als es die
        heutigen Löhne irgend zulassen.

        Für die Arbeiten sehen wir sieben Wochen vor. Das Boot könnte demnach, wenn uns der Auftrag bis
        Ende Januar erteilt wird, auf Ostern wieder zu Wasser gehen und für die Sonntagsfahrten bereit
        sein.

        Die Aufstellung der einzelnen Arbeiten finden Sie auf der folgenden Seite.
        """,
    )
    sheet.stamp(560, 390, ["Hafengesellschaft", "11. JAN. 1929", "Dir. ___ Kasse ___"], RED, -4)


def letter_05_2(sheet: Sheet) -> None:
    y = typed(sheet, 120, "=Offerte No. 217                                   Blatt 2")
    typed(
        sheet,
        y + 40,
        """
        =Pos.  Arbeit                                        RM
        =-----------------------------------------------------------
        = 1    Zwei Planken am Heck in Eiche              312.--
        = 2    Rumpf abbrennen, dreimal streichen         486.50
        = 3    Welle ausbauen, richten, neu lagern        640.--
        = 4    Schraube, dreiflüglig, Bronze              275.--
        = 5    Kajüte: Polster und Fensterriemen          198.--
        = 6    Sonnendach, Segeltuch mit Gestänge         420.--
        = 7    Rettungsringe, 8 Stück, beschriftet         96.--
        = 8    Beleuchtung nach Vorschrift                154.50
        =-----------------------------------------------------------
        =      zusammen                                 2.582.--

        Nicht inbegriffen sind das Schleppen des Bootes nach Kranenwert und zurück sowie die Gebühren der
        Abnahme. Für Pos. 3 behalten wir uns einen Zuschlag bis zu RM 80.-- vor, falls das hintere
        Lager sich beim Öffnen als gerissen erweist.

        Die Probefahrt findet in Gegenwart Ihres Schiffsführers statt. Wir leisten auf Holz und Anstrich
        ein Jahr, auf die Welle zwei Jahre Gewähr.
        """,
    )
    sheet.slanted(470, 606, "zu viel!", "pencil", 42, PENCIL, 8)
    sheet.flourish([(700, 586), (770, 582), (850, 584)], PENCIL, 3)


def letter_05_3(sheet: Sheet) -> None:
    y = typed(sheet, 120, "=Offerte No. 217                                   Blatt 3")
    y = typed(
        sheet,
        y + 40,
        """
        Zahlung: ein Drittel bei Bestellung, ein Drittel beim Stapellauf, der Rest dreissig Tage nach der
        Abnahme, ohne Abzug.

        An diese Offerte halten wir uns bis zum 15. Februar 1929 gebunden.

        Indem wir hoffen, dass Sie uns mit Ihrem geschätzten Auftrag beehren werden, empfehlen wir uns Ihnen

        =                    mit aller Hochachtung
        =                    Werft Lüders & Mey
        """,
    )
    sheet.slanted(420, y + 76, "K. Lüders", "pen", 96, BLACK, 4)
    sheet.flourish([(430, y + 96), (540, y + 100), (640, y + 84), (600, y + 112), (720, y + 90)], BLACK)


def letter_06_1(sheet: Sheet) -> None:
    sheet.print(500, 66, "OVERBEEK & ZOON", "serif bold", 42, BLUE, at="ma")
    sheet.print(500, 118, "Expediteurs  —  Cargadoors", "serif italic", 24, BLUE, at="ma")
    sheet.print(500, 152, "ROTTERDAM, Wijnhaven-Oost 214", "serif", 19, BLUE, at="ma")
    sheet.ink(BLUE).line((330, 186, 670, 186), fill=220, width=2)
    y = sheet.type(540, 250, ["Rotterdam, 11 Febr. 1929"], "worn", 20, 32)
    y = sheet.type(
        118,
        y + 24,
        wrap("=Fräulein A. Zurlinden,\n=Herrn Direktor Halbwachs,\n=Hafengesellschaft, Lauterwörth."),
        "worn",
        20,
        32,
    )
    text = """
        =Sehr geehrtes Fräulein Zurlinden,
        =sehr geehrter Herr Direktor,

        mit Gegenwärtigem zeigen wir Ihnen an, dass der Dampfer "Maria Cornelia" am Samstag hier
        angekommen ist und für Ihre Rechnung gelöscht hat:

        =       1.840 Sack Plata-Mais
        =         212 Fass Leinöl
        =          36 Kisten Maschinenteile, gez. H.L.L.

        Sieben Sack waren nass und wurden zurückgestellt. Der Versicherer hat gestern seine Besichtigung
        gehalten; den Schein legen wir in Abschrift bei.

        Wegen des Eises auf dem Strom kann vor Ende der Woche kein Kahn abgehen. Wir haben für Sie den
        Kahn "Anna Terhoeven" vorgemerkt und werden drahten, sobald die Fahrt frei ist.

        Mit freundlichem Gruss an Herrn Präsident Brandt verbleiben wir

        =                         Ihre ergebenen
        =                         Overbeek & Zoon
        """
    y = sheet.type(118, y + 34, wrap(text, 58), "worn", 20, 32)
    sheet.slanted(480, y + 66, "C. Overbeek", "lady", 70, BLUE, 7)
    sheet.flourish([(500, y + 92), (620, y + 70), (760, y + 40), (800, y + 60), (690, y + 78), (560, y + 96)], BLUE)
    sheet.stamp(112, y + 70, ["Hafengesellschaft", "14. FEB. 1929"], RED, 6)


def letter_07_1(sheet: Sheet) -> None:
    port_head(sheet, "Rdschr. 7/30")
    y = sheet.type(118, 300, ["R u n d s c h r e i b e n   N r.  7"], "courier", 26, 40, VIOLET)
    y = typed(sheet, y, "=An unsere verehrte Kundschaft\n=\n=Lauterwörth, 30. September 1930", colour=VIOLET)
    text = """
        Wir beehren uns, Ihnen zur Kenntnis zu bringen, dass vom 1. November an für die Benützung der
        Lagerhäuser II und III ein neuer Tarif in Kraft tritt.

        =   Stückgut, je 100 kg und Monat         18 Pfg.
        =   Getreide lose, je Tonne und Monat     95 Pfg.
        =   Öle und Fette, je Fass und Monat      40 Pfg.

        Angebrochene Monate werden von der zweiten Woche an voll berechnet. Für Waren, die länger als
        ein Jahr lagern, gewähren wir einen Nachlass von zehn vom Hundert.

        Das Lagerhaus I bleibt wegen des Umbaues bis auf weiteres geschlossen.

        Wir bitten Sie, hiervon Vormerkung zu nehmen.

        =               Hafen- und Lagerhaus-Gesellschaft
        =                      Lauterwörth A.-G.
        """
    typed(sheet, y + 40, text, colour=VIOLET)


def written(sheet: Sheet, y: float, text: str, columns: int = 44) -> float:
    """Lines in a boatman's hand: they rise and fall, and start where they like."""
    for line in wrap(text, columns):
        if line:
            x = 104 + sheet.draw.uniform(-5, 9)
            sheet.slanted(x + 0, y, line, "hand", 34, BLUE, sheet.draw.uniform(-0.35, 0.75))
        y += 60
    return y


def letter_08_1(sheet: Sheet) -> None:
    sheet.slanted(520, 120, "An Bord der Wasseramsel,", "hand", 34, BLUE, 0.6)
    sheet.slanted(524, 180, "den 5ten Juni 31.", "hand", 34, BLUE, 0.2)
    written(
        sheet,
        310,
        """
        Hochgeehrter Herr Präsident!

        Sie haben mir gesagt ich soll schreiben wenn etwas ist. Am Sonntag haben wir mit der vollen Fahrt
        von Kranenwert herauf beim Altwasser den Grund berührt. Es war Nebel und die Boje lag nicht wo sie
        liegen soll.

        Verletzt ist niemand, nur eine Frau hat ihren Hut verloren und will ihn bezahlt haben, vier Mark.

        Die Schraube hat einen Schlag bekommen, ich fahre jetzt mit halber Kraft. Herr Lüders will sie am
        Mittwoch ansehen.
        """,
    )


def letter_08_2(sheet: Sheet) -> None:
    y = written(
        sheet,
        120,
        """
        Ich bitte Sie, mit dem Direktor zu reden, dass die Boje an ihren Platz kommt. Ich habe es schon
        zweimal gemeldet, im April und nach Pfingsten.

        Der Motor ist gut. Am Samstag hatten wir 212 Personen in vier Fahrten.

        =          Mit Hochachtung grüsst
        """,
    )
    sheet.slanted(420, y + 46, "Jak. Mettler", "hand", 56, BLUE, 4)
    sheet.slanted(430, y + 110, "Schiffsführer", "hand", 32, BLUE, 2)
    sheet.flourish([(430, y + 70), (560, y + 66), (700, y + 52)], BLUE)
