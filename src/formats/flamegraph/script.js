// What a flame graph does where scripts run: it fills the window, zooms, searches and takes keys. Without scripts the picture is
// complete, too, scaled to the window, with tooltips. All texts go through `textContent`: names come from strangers.
"use strict";
(() => {
  const svg = document.currentScript.closest("svg");
  const head = svg.querySelector(".head");
  const whole = { left: 0, right: svg.viewBox.baseVal.width };
  const height = svg.viewBox.baseVal.height;

  const make = (name, attributes, parent) => {
    const element = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };

  // The boxes, in the order of the tree. Edges are those of the file, where the whole is as wide as the picture.
  const boxes = Array.from(svg.querySelectorAll(".boxes > g"), (g) => {
    const rect = g.querySelector("rect");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
    const about = g.querySelector("title").textContent;
    const lines = about.split("\n");
    return {
      g, rect, about, text: g.querySelector("text"), name: (g.dataset.mark ?? "") + lines[0],
      searched: lines.slice(0, -1).join("\n").toLowerCase(), edges: (g.dataset.edges ?? "").split(" ").map(Number),
      left: x, right: x + width, top: y, height, caller: null, isShown: true, isMatch: false, isInMatch: false,
    };
  });
  const boxOf = new Map(boxes.map((box) => [box.g, box]));
  const isInverted = boxes.length > 1 && boxes.some((box) => box.top < boxes[0].top);

  // A box comes after its caller, with nothing between them that is not called by that one, too.
  const open = [];
  for (const box of boxes) {
    const isDeeper = (other) => (isInverted ? box.top < other.top : box.top > other.top);
    while (open.length > 0 && !isDeeper(open.at(-1))) open.pop();
    box.caller = open.at(-1) ?? null;
    open.push(box);
  }

  // A picture of two runs has a line that explains colours, and boxes that may be as wide as their cost in one run, in the other,
  // or in both: `edges` has left and right edges for each of these.
  const legend = Number(svg.dataset.legend ?? 0);
  const widths = (svg.dataset.widths ?? "").split(" ").filter((word) => word !== "");
  let laid = 0;

  // What is added to the head: its own paper, because it stays in the window and boxes pass below it, a line about the box that is
  // pointed at, and on the right what to search for and what was found.
  const paper = make("rect", { class: "paper control", width: "100%", height: 70 + legend }, head);
  head.prepend(paper);
  const about = make("text", { class: "control about", x: 10, y: 62 + legend }, head);
  const found = make("text", { class: "control found", "text-anchor": "end", y: 44 }, head);
  const reset = make("text", { class: "control button reset", "text-anchor": "end", y: 62, tabindex: 0, role: "button" }, head);
  const turn = make("text", { class: "control button turn", "text-anchor": "end", y: 62 + legend }, head);
  const field = make("foreignObject", { class: "control", y: 6, width: 240, height: 24 }, head);
  const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
  input.setAttribute("type", "search");
  input.setAttribute("placeholder", "Search (press /)");
  input.setAttribute("aria-label", "Search for names");
  field.append(input);
  svg.append(head);

  const probe = make("text", {}, head);
  probe.textContent = "M".repeat(50);
  const letter = probe.getComputedTextLength() / 50 || 7.3;
  probe.remove();

  // As much of a name as fits. Letters of East Asia and pictures are as wide as two.
  const isWide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
  const widthOf = (character) => (isWide.test(character) ? 2 : 1);
  const fitting = (name, columns) => {
    const characters = Array.from(name);
    if (characters.length * 2 <= columns || characters.reduce((sum, character) => sum + widthOf(character), 0) <= columns) return name;
    let [cut, used] = ["", 1];
    for (const character of characters) {
      used += widthOf(character);
      if (used > columns) break;
      cut += character;
    }
    return cut + "…";
  };

  // What is shown of the whole, and the box that it belongs to.
  let view = whole;
  let zoomed = null;

  const draw = () => {
    const width = svg.getBoundingClientRect().width;
    if (width === 0) return;
    // One unit is one pixel: letters keep their size. A printer's page is filled nevertheless, because its width is the picture's.
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const scale = width / (view.right - view.left);
    const callers = new Set();
    for (let box = zoomed?.caller; box; box = box.caller) callers.add(box);
    for (const box of boxes) {
      const left = Math.max((box.left - view.left) * scale, 0);
      const right = Math.min((box.right - view.left) * scale, width);
      // Edges that are one in the tree may differ by what sums of REALs are rounded.
      box.isShown = right - left > 1e-4;
      box.g.style.display = box.isShown ? "" : "none";
      if (!box.isShown) continue;
      box.rect.setAttribute("x", left);
      box.rect.setAttribute("width", right - left);
      box.g.classList.toggle("thin", right - left < 3 || box.height < 3);
      box.g.classList.toggle("around", callers.has(box));
      const columns = box.height < 12 ? 0 : Math.floor((right - left - 6) / letter);
      if (columns < 3) {
        box.text?.remove();
        box.text = null;
        continue;
      }
      box.text ??= make("text", { y: box.top + box.height / 2 + 4 }, box.g);
      box.text.setAttribute("x", left + 3);
      box.text.textContent = fitting(box.name, columns);
    }
    field.setAttribute("x", width - 250);
    found.setAttribute("x", width - 10);
    reset.setAttribute("x", width - 10);
    turn.setAttribute("x", width - 10);
    tell();
  };

  const zoom = (box) => {
    view = box && box.right > box.left ? box : whole;
    zoomed = view === whole ? null : box;
    reset.textContent = zoomed ? "Reset zoom (Esc)" : "";
    draw();
  };

  // Makes boxes as wide as their cost in another run. What is zoomed stays so, unless it cost nothing there.
  const lay = () => {
    laid = (laid + 1) % widths.length;
    for (const box of boxes) [box.left, box.right] = box.edges.slice(2 * laid, 2 * laid + 2);
    nameTurn();
    zoom(zoomed);
  };
  const nameTurn = () => {
    turn.textContent = widths.length > 0 ? `Width: ${widths[laid]} (w turns)` : "";
  };

  // How much of what is shown matches. What matches within a match is part of it and counts once.
  const tell = () => {
    let [sum, count] = [0, 0];
    for (const box of boxes) {
      const [left, right] = [Math.max(box.left, view.left), Math.min(box.right, view.right)];
      if (!box.isMatch || right <= left) continue;
      count += 1;
      if (!box.isInMatch) sum += right - left;
    }
    const share = ((100 * sum) / (view.right - view.left)).toFixed(2);
    found.textContent = input.value.trim() === "" ? "" : `${share} % matched, ${count} ${count === 1 ? "node" : "nodes"}`;
  };

  const search = () => {
    const wanted = input.value.trim().toLowerCase();
    for (const box of boxes) {
      box.isMatch = wanted !== "" && box.searched.includes(wanted);
      box.isInMatch = box.caller !== null && (box.caller.isMatch || box.caller.isInMatch);
      box.g.classList.toggle("match", box.isMatch);
    }
    tell();
  };

  // Alone in the window, and not a part of a page that has keys of its own.
  const isAlone = svg === document.documentElement;
  const hint = "Click zooms, / searches, arrows walk, Enter zooms, Esc goes back";
  const show = (box) => {
    about.textContent = box ? box.about.replaceAll("\n", " | ") : hint;
  };

  const focus = (box) => {
    if (!box) return;
    box.g.setAttribute("tabindex", "-1");
    box.g.focus();
  };

  // The box that an arrow leads to.
  const beside = (box, key) => {
    const shown = boxes.filter((other) => other.isShown);
    if (!box?.isShown) return shown[0];
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const level = shown.filter((other) => other.top === box.top);
      return level[level.indexOf(box) + (key === "ArrowLeft" ? -1 : 1)];
    }
    const isOutwards = (key === "ArrowUp") !== isInverted;
    return isOutwards ? box.caller : shown.find((other) => other.caller === box);
  };

  svg.addEventListener("click", (event) => {
    const box = boxOf.get(event.target.closest(".boxes > g"));
    if (box) zoom(box);
  });
  svg.addEventListener("mouseover", (event) => show(boxOf.get(event.target.closest(".boxes > g"))));
  svg.addEventListener("focusin", (event) => show(boxOf.get(event.target)));
  reset.addEventListener("click", () => zoom(null));
  turn.addEventListener("click", lay);
  input.addEventListener("input", search);
  document.addEventListener("keydown", (event) => {
    if (!isAlone && !svg.contains(document.activeElement)) return;
    const isTyping = document.activeElement === input;
    const box = boxOf.get(document.activeElement);
    if ((event.key === "/" && !isTyping) || (event.key === "f" && (event.ctrlKey || event.metaKey))) {
      input.focus();
      input.select();
    } else if (event.key === "Escape" && isTyping && input.value !== "") {
      input.value = "";
      search();
    } else if (event.key === "Escape") {
      input.blur();
      zoom(null);
    } else if (event.key === "Enter" && isTyping) {
      focus(boxes.find((other) => other.isMatch && other.isShown));
    } else if (event.key === "Enter" && document.activeElement === reset) {
      zoom(null);
    } else if (widths.length > 0 && ((event.key === "w" && !isTyping) || (event.key === "Enter" && document.activeElement === turn))) {
      lay();
    } else if (event.key === "Enter" && box) {
      zoom(box);
    } else if (event.key.startsWith("Arrow") && !isTyping) {
      focus(beside(box, event.key));
    } else {
      return;
    }
    event.preventDefault();
  });

  addEventListener("resize", draw);
  addEventListener("scroll", () => {
    if (isAlone) head.style.transform = `translateY(${scrollY}px)`;
  });
  if (widths.length > 0) {
    turn.setAttribute("tabindex", 0);
    turn.setAttribute("role", "button");
  }
  nameTurn();
  show(null);
  draw();
  // Flames begin at the bottom.
  if (isAlone && isInverted) scrollTo(0, document.documentElement.scrollHeight);
})();
