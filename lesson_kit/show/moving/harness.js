// What all moving pictures share: the page's parts, the controls, drawing, the theme. A picture is one call:
// picture({start, controls, puzzles, keys, numbers, layout, draw, say, handles}); see each function below.

const NARROW = 500; // pixels, as in page.py
const SVG = "http://www.w3.org/2000/svg";
const PAUSE = 400; // milliseconds without a change, after which the sentence is said and puzzles are ticked

/** An HTML element. Text goes in as text only. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A number with so many decimals and a true minus sign; never "−0.00". */
function fixed(value, digits = 2) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? "−" + text : text;
}

/** The same, but what is exactly 0 looks different from what is rounded to it. */
const exact = (value, digits = 2) => (value === 0 ? "0" : fixed(value, digits));

/** A positive number that never looks like 0, nor like 1, unless it is. */
function honest(value) {
  if (value > 99999 && value < Infinity) return ">99999";
  if (value <= 0 || value === 1 || !/^[01]\.00$/.test(fixed(value)) || value > 1) return exact(value);
  if (value < 0.0001) return "<0.0001";
  return value > 0.9999 ? ">0.9999" : fixed(value, 4);
}

/** A word that fits into a picture. */
function short(text, most = 12) {
  const letters = [...text];
  return letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…";
}

/** Softmax of a row, as PyTorch computes it: a row of -Infinity alone gives NaN. */
function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** Draws into an SVG: what was put is there afterwards, all else is gone, and what stays keeps its focus. */
class Pen {
  constructor(svg) {
    this.svg = svg;
    this.nodes = new Map();
    this.put_ = [];
  }

  /** An SVG element under a name of its own. `children`: the text, or more elements as [tag, attributes, text]. */
  put(key, tag, attributes, children) {
    this.put_.push([key, tag, attributes, children]);
  }

  line(key, x1, y1, x2, y2, classes) {
    this.put(key, "line", { x1, y1, x2, y2, class: classes });
  }

  rect(key, x, y, width, height, classes, more) {
    this.put(key, "rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), class: classes, ...more });
  }

  circle(key, cx, cy, r, classes, more) {
    this.put(key, "circle", { cx, cy, r, class: classes, ...more });
  }

  path(key, d, classes, more) {
    this.put(key, "path", { d, class: classes, ...more });
  }

  /** `shows` names the number that the text shows, as a path into numbers(): "weights.0". */
  text(key, x, y, text, classes, shows) {
    this.put(key, "text", { x, y, class: classes, "data-shows": shows || undefined }, text);
  }

  arrow(key, x1, y1, x2, y2, classes) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    const head = Math.min(11, length);
    const [ux, uy] = length ? [(x2 - x1) / length, (y2 - y1) / length] : [0, 0];
    const [bx, by] = [x2 - head * ux, y2 - head * uy];
    const wing = (side) => `${bx - side * uy * head * 0.45} ${by + side * ux * head * 0.45}`;
    this.line(`${key} shaft`, x1, y1, bx, by, `stroke ${classes}`);
    this.path(`${key} head`, `M${x2} ${y2}L${wing(1)}L${wing(-1)}Z`, `fill ${classes}`);
  }

  /** The point that `handles[key]` moves. */
  handle(key, x, y, classes) {
    const circles = [["circle", { class: "reach", r: 22 }], ["circle", { class: "ring", r: 14 }], ["circle", { class: "mark", r: 8 }]];
    const at = `translate(${x} ${y})`;
    this.put(key, "g", { transform: at, class: `handle ${classes}`, tabindex: 0, role: "slider", "data-handle": key }, circles);
  }

  /** A part of the picture in which a click takes `handles[key]` there. */
  field(key, x, y, width, height) {
    this.rect(`field of ${key}`, x, y, width, height, "field", { "data-field": key });
  }

  finish() {
    const kept = new Set(this.put_.map(([key]) => key));
    if (kept.size !== this.put_.length) throw new Error("two things were put under one name");
    for (const [key, node] of this.nodes) if (!kept.has(key)) this.nodes.delete(key), node.remove();
    this.put_.forEach(([key, tag, attributes, children], place) => {
      let node = this.nodes.get(key);
      if (!node) this.nodes.set(key, (node = make(tag, {}, Array.isArray(children) ? children : [])));
      change(node, attributes);
      if (typeof children === "string" && node.textContent !== children) node.textContent = children;
      if (this.svg.childNodes[place] !== node) this.svg.insertBefore(node, this.svg.childNodes[place] ?? null);
    });
    this.put_ = [];
  }
}

function change(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

function make(tag, attributes, children = []) {
  const node = document.createElementNS(SVG, tag);
  change(node, attributes);
  for (const [childTag, childAttributes, text] of children) {
    const child = make(childTag, childAttributes);
    if (text !== undefined) child.textContent = text;
    node.append(child);
  }
  return node;
}

// --- controls: each gives {root, refresh(state, numbers)} and calls set(changes) ---

const CONTROLS = {
  /** {kind: "slider", key, label, min, max, step, text(value), [get(state)], [put(value, state)]}; max may be max(state) */
  slider(spec, set) {
    const id = `control-${spec.key}`;
    const input = element("input", { type: "range", id, name: spec.key, min: spec.min, step: spec.step });
    const max = typeof spec.max === "function" ? spec.max : () => spec.max;
    const shown = element("output", { for: id, "data-control": spec.key });
    const root = element("div", { class: "control slider" }, element("label", { for: id }, spec.label), input, shown);
    const get = spec.get ?? ((state) => state[spec.key]);
    const put = spec.put ?? ((value) => ({ [spec.key]: value }));
    input.addEventListener("input", () => set((state) => put(Number(input.value), state)));
    const refresh = (state) => {
      const value = get(state);
      input.max = max(state);
      if (Math.abs(Number(input.value) - value) > spec.step / 2) input.value = value;
      shown.textContent = spec.text ? spec.text(value, state) : String(value);
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    return { root, refresh };
  },

  /** {kind: "choice", key, label, options: [[value, text], ...], [put(value, state)]} */
  choice(spec, set) {
    const put = spec.put ?? ((value) => ({ [spec.key]: value }));
    const inputs = spec.options.map(([value], i) => {
      const input = element("input", { type: "radio", name: spec.key, value: String(value), id: `control-${spec.key}-${i}` });
      input.addEventListener("change", () => set((state) => put(value, state), true));
      return input;
    });
    const labels = inputs.map((input, i) => element("label", {}, input, element("span", {}, spec.options[i][1])));
    const segments = element("div", { class: "segments" }, ...labels);
    const root = element("fieldset", { class: "control" }, element("legend", {}, spec.label), segments);
    const refresh = (state) => inputs.forEach((input, i) => (input.checked = state[spec.key] === spec.options[i][0]));
    return { root, refresh };
  },

  /** {kind: "buttons", label, buttons: [[text, (state) => changes], ...]} */
  buttons(spec, set) {
    const buttons = spec.buttons.map(([text, put]) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => set(put, true));
      return button;
    });
    const name = element("span", { class: "name" }, spec.label);
    const row = element("div", { class: "buttons" }, ...buttons);
    return { root: element("div", { class: "control", role: "group", "aria-label": spec.label }, name, row), refresh() {} };
  },

  /** {kind: "steps", key, label, count, [text(state)], [play: milliseconds for a step]}; the state holds 0 ... count - 1;
   *  count may be count(state) */
  steps(spec, set) {
    let timer = null;
    const count = typeof spec.count === "function" ? spec.count : () => spec.count;
    const move = (by) => set((state) => ({ [spec.key]: Math.min(count(state) - 1, Math.max(0, state[spec.key] + by)) }), true);
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    };
    const button = (text, pressed) => {
      const made = element("button", { type: "button" }, text);
      made.addEventListener("click", pressed);
      return made;
    };
    const back = button("Back", () => (stop(), move(-1)));
    const next = button("Next", () => (stop(), move(1)));
    const play = button("Play", () => {
      if (timer !== null) return stop();
      if (!next.dataset.more) set(() => ({ [spec.key]: 0 }), true);
      timer = setInterval(() => move(1), spec.play);
      play.textContent = "Pause";
    });
    const shown = element("output", { "data-control": spec.key });
    const row = element("div", { class: "buttons" }, back, next, ...(spec.play ? [play] : []));
    const name = element("span", { class: "name" }, spec.label);
    const root = element("div", { class: "control", role: "group", "aria-label": spec.label }, name, row, shown);
    const refresh = (state) => {
      const [first, last] = [state[spec.key] === 0, state[spec.key] === count(state) - 1];
      back.setAttribute("aria-disabled", first);
      next.setAttribute("aria-disabled", last);
      next.dataset.more = last ? "" : "yes";
      if (last && timer !== null) stop();
      shown.textContent = spec.text ? spec.text(state) : `${state[spec.key] + 1} of ${count(state)}`;
    };
    return { root, refresh };
  },

  /** {kind: "cells", key, label, rows, columns, name(i, j), look(i, j, state, numbers), put(i, j, state)}: arrow keys go
   *  from cell to cell, Space or Enter presses. `look` gives {pressed, text, classes, shows, tint: 0 ... 1, title}.
   *  [corner]: a word over the rows. [focus(i, j, state)]: changes when a cell gets the focus.
   *  [chosen(state)]: the row in bold. [after]: columns on the right, each [heading, (i, state, numbers) => {text, classes, shows}]. */
  cells(spec, set) {
    const [down, across] = [spec.rows.length, spec.columns.length];
    const after = spec.after ?? [];
    const root = element("div", { class: "control cells", role: "group", "aria-label": spec.label });
    const right = after.length ? ` repeat(${after.length}, minmax(38px, max-content))` : "";
    root.style.gridTemplateColumns = `minmax(36px, max-content) repeat(${across}, minmax(34px, 1fr))${right}`;
    const heads = [...spec.columns.map((text) => short(text, 9)), ...after.map(([text]) => text)];
    root.append(element("span", { class: "head corner quiet" }, spec.corner ?? ""), ...heads.map((text) => element("span", { class: "head" }, text)));
    const beside = [];
    const names = spec.rows.map((text) => element("span", { class: "head row" }, short(text, 9)));
    const buttons = spec.rows.map((_, i) => {
      root.append(names[i]);
      const row = spec.columns.map((_, j) => {
        const button = element("button", { type: "button", tabindex: i || j ? -1 : 0, "data-cell": `${i} ${j}` });
        button.addEventListener("click", () => set((state) => spec.put(i, j, state), true));
        button.addEventListener("focus", () => {
          for (const one of buttons.flat()) one.tabIndex = one === button ? 0 : -1;
          if (spec.focus) set((state) => spec.focus(i, j, state), true);
        });
        root.append(button);
        return button;
      });
      beside.push(after.map(() => element("span")));
      root.append(...beside[i]);
      return row;
    });
    root.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      if (!step || !event.target.dataset.cell) return;
      const [i, j] = event.target.dataset.cell.split(" ").map(Number);
      buttons[(i - step[1] + down) % down][(j + step[0] + across) % across].focus();
      event.preventDefault();
    });
    const refresh = (state, numbers) => {
      names.forEach((name, i) => name.classList.toggle("chosen", spec.chosen?.(state) === i));
      beside.forEach((row, i) =>
        row.forEach((span, k) => {
          const look = after[k][1](i, state, numbers);
          span.textContent = look.text;
          span.className = `beside ${look.classes ?? ""}`;
          if (look.shows) span.dataset.shows = look.shows;
        }),
      );
      buttons.forEach((row, i) =>
        row.forEach((button, j) => {
          const look = spec.look(i, j, state, numbers);
          button.textContent = look.text;
          button.className = look.classes ?? "";
          button.setAttribute("aria-pressed", look.pressed);
          button.setAttribute("aria-label", `${spec.name(i, j)}: ${look.title ?? look.text}`);
          if (look.shows) button.dataset.shows = look.shows;
          button.style.setProperty("--tint", look.tint ?? 0);
        }),
      );
    };
    return { root, refresh };
  },
};

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The theme of the page around: JupyterLab's, the site's, VS Code's, Colab's; null where it can't be read. */
function themeAround() {
  try {
    const [html, body] = [parent.document.documentElement, parent.document.body];
    if (parent === window) return null;
    const lab = body.dataset.jpThemeLight ?? html.dataset.jpThemeLight;
    if (lab !== undefined) return lab === "false" ? "dark" : "light";
    const named = html.dataset.theme ?? body.dataset.vscodeThemeKind ?? html.getAttribute("theme") ?? "";
    return /dark|black/.test(named) ? "dark" : /light/.test(named) ? "light" : null;
  } catch {
    return null; // another origin: the system's theme holds
  }
}

function followTheme() {
  const follow = () => (document.documentElement.style.colorScheme = themeAround() ?? "");
  follow();
  try {
    for (const node of [parent.document.documentElement, parent.document.body])
      if (parent !== window) new MutationObserver(follow).observe(node, { attributes: true });
  } catch {
    // another origin
  }
}

/** Shows one moving picture.
 *
 * start(data): the state at first, a plain object.           controls(data): a list, as in CONTROLS; [when(state)] hides.
 * puzzles(data): [[text, solved(state, numbers), [answer: said in its place when solved]], ...]; a tick is given when the
 * reader lets go, clicks or rests, not in passing. [round(state)]: each round has ticks of its own.
 * keys: a line on the keyboard, besides Tab.                 [legend(state, data)]: [[words, class], ...], what is drawn.
 * numbers(state, data): all that is computed.                layout({width, height, narrow}, state, data): where things lie.
 * [stageFrom]: pixels of width; in a narrower frame that isn't a phone's there is room for the cells alone.
 * draw(pen, state, numbers, layout, data, solved): draws it. say(state, numbers, data): one plain sentence.
 * handles(data): {key: {label, min, max, now(state), text(state), by(state, dx, dy, large), to(state, x, y, layout)}}
 */
function picture(spec) {
  const data = JSON.parse(document.getElementById("data").textContent);
  const state = spec.start(data);
  const first = structuredClone(state);
  const rounds = new Map(); // what is solved in each
  let numbers = {};
  let layout = {};
  let waiting = null;

  const svg = make("svg", { role: "group", "aria-label": document.title });
  const stage = element("div", { class: "stage" });
  stage.append(svg);
  const hatch = ["path", { d: "M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class: "hatch-line" }];
  const pattern = make("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" }, [hatch]);
  svg.append(pattern);
  const pen = new Pen(svg);
  const puzzles = (spec.puzzles?.(data) ?? []).map(([text, test, answer]) => ({ item: element("li"), test, text, answer }));
  const reset = element("button", { type: "button", id: "reset" }, "Reset");
  const header = element("header", {}, element("h1", {}, document.title), reset);
  const list = element("ul", { class: "puzzles", "aria-label": "Try to" }, ...puzzles.map(({ item }) => item));
  const said = element("p", { class: "say", "aria-hidden": "true" }); // seen at once, read aloud after a pause
  const announced = element("p", { class: "announced", "aria-live": "polite" });
  const legend = element("p", { class: "legend" });
  const controls = spec.controls(data).map((one) => ({ ...CONTROLS[one.kind](one, set), spec: one }));
  const above = controls.filter((one) => one.spec.kind !== "cells");
  const bar = element("div", { class: "controls" }, ...above.map(({ root }) => root));
  const cells = controls.filter((one) => one.spec.kind === "cells").map(({ root }) => root);
  const keys = element("p", { class: "keys" }, `Keyboard: Tab goes on. ${spec.keys ?? ""}`);
  const board = element("div", { class: "board" }, ...cells, ...(spec.draw ? [stage] : []));
  const main = element("main", {}, header, list, bar, board, ...(spec.legend ? [legend] : []), said, announced, keys);

  /** changes: an object, or a function that makes it of the state. eased: let bars glide to their new lengths. */
  function set(changes, eased = false) {
    Object.assign(state, typeof changes === "function" ? changes(state) : changes);
    svg.classList.toggle("eased", eased);
    show();
    if (eased) settle();
  }

  function show() {
    numbers = spec.numbers(state, data);
    for (const { root, refresh, spec: one } of controls) {
      root.hidden = one.when ? !one.when(state) : false;
      refresh(state, numbers);
    }
    said.textContent = spec.say(state, numbers, data);
    const parts = spec.legend?.(state, data) ?? [];
    if (legend.textContent !== parts.map(([words]) => words).join(""))
      legend.replaceChildren(...parts.map(([words, classes]) => element("span", { class: classes }, words)));
    tick();
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(rest, PAUSE);
  }

  /** What is solved in this round. */
  function solved() {
    const round = spec.round?.(state);
    if (!rounds.has(round)) rounds.set(round, new Set());
    return rounds.get(round);
  }

  function tick() {
    const done = solved();
    for (const { item, text, answer } of puzzles) {
      const words = (done.has(item) && answer) || text;
      if (item.textContent !== words) item.textContent = words;
      item.classList.toggle("solved", done.has(item));
      item.classList.toggle("answered", done.has(item) && Boolean(answer));
    }
  }

  /** The reader has let go, or clicked, or rests: what is true now counts as solved. */
  function settle() {
    const done = solved();
    const fresh = puzzles.filter(({ item, test }) => !done.has(item) && test(state, numbers));
    if (!fresh.length) return;
    for (const { item } of fresh) done.add(item);
    tick();
    draw();
  }

  function rest() {
    settle();
    if (announced.textContent !== said.textContent) announced.textContent = said.textContent;
  }

  function draw() {
    stage.hidden = innerWidth >= NARROW && innerWidth < (spec.stageFrom ?? 0);
    const { width, height } = stage.getBoundingClientRect();
    if (!spec.draw || stage.hidden || !width || !height) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    layout = spec.layout?.({ width, height, narrow: innerWidth < NARROW }, state, data) ?? { width, height };
    spec.draw(pen, state, numbers, layout, data, puzzles.map(({ item }) => solved().has(item)));
    pen.finish();
    for (const [key, handle] of Object.entries(handles)) {
      const node = pen.nodes.get(key);
      if (!node) continue;
      change(node, { "aria-label": handle.label, "aria-valuemin": handle.min, "aria-valuemax": handle.max });
      change(node, { "aria-valuenow": handle.now(state), "aria-valuetext": handle.text(state) });
    }
  }

  const handles = spec.handles?.(data) ?? {};
  const within = (event) => {
    const box = svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  svg.addEventListener("keydown", (event) => {
    const handle = handles[event.target.dataset.handle];
    if (!handle || !ARROWS[event.key]) return;
    const [dx, dy] = ARROWS[event.key];
    set(handle.by(state, dx, dy, event.shiftKey));
    event.preventDefault();
  });
  svg.addEventListener("pointerdown", (event) => {
    // A finger on the field may want to scroll: there, a click alone counts.
    const field = event.pointerType !== "touch" && event.button === 0 ? event.target.dataset.field : undefined;
    const node = event.target.closest("[data-handle]") ?? pen.nodes.get(field);
    if (!node) return;
    const move = (moved) => set(handles[node.dataset.handle].to(state, ...within(moved), layout));
    const end = () => node.removeEventListener("pointermove", move);
    node.setPointerCapture(event.pointerId);
    node.addEventListener("pointermove", move);
    node.addEventListener("lostpointercapture", end, { once: true });
    node.focus();
    if (field) move(event);
    event.preventDefault();
  });
  window.addEventListener("pointerup", settle);
  svg.addEventListener("click", (event) => {
    const key = event.target.dataset.field;
    if (key) set(handles[key].to(state, ...within(event), layout));
  });
  reset.addEventListener("click", () => {
    rounds.clear();
    for (const key of Object.keys(state)) delete state[key];
    set(structuredClone(first), true);
  });

  document.body.append(main);
  followTheme();
  set({});
  rest();
  new ResizeObserver(() => draw()).observe(main);
  window.picture = { get state() { return structuredClone(state); }, set, numbers: () => structuredClone(numbers) };
}
