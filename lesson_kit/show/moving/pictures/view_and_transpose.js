// data: {x: rows of numbers, token by token, start: the state at first}
// state: {task: "split" or "merge", heads, step: 0, 1 or 2, place: which number is pointed at, in reading order}

const TOKENS = ["query", "key", "value", "output"]; // four hues that are told apart
const each = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
const token = (number) => Math.floor(number / 10);
const digits = (number) => String(number).padStart(2, "0");

// --- tensors, as torch has them: a shape, strides, and numbers in memory ---

const inOrder = (shape) => shape.map((_, axis) => product(shape.slice(axis + 1)));
const index = (place, shape) => inOrder(shape).map((stride, axis) => Math.floor(place / stride) % shape[axis]);
const inMemory = ({ strides, shape }, place) => dot(index(place, shape), strides);
const read = (tensor) => tensor.memory.map((_, place) => tensor.memory[inMemory(tensor, place)]);
const tensor = (memory, shape) => ({ memory, shape, strides: inOrder(shape) });

/** Where memory is in reading order, a view of it; else a copy that is. */
const reshape = (from, shape) => tensor(String(from.strides) === String(inOrder(from.shape)) ? from.memory : read(from), shape);

function transpose({ memory, shape, strides }) {
  const swap = ([batch, one, other, ...rest]) => [batch, other, one, ...rest];
  return { memory, shape: swap(shape), strides: swap(strides) };
}

/** Both ways, each as three steps of {code, tensor}; without transpose the last two are the same. */
function ways({ task, heads }, data) {
  const [length, width] = [data.x.length, data.x[0].length];
  const list = (shape) => shape.join(", ");
  const [flat, cut, front] = [[1, length, width], [1, length, heads, width / heads], [1, heads, length, width / heads]];
  const x = { code: "x", tensor: tensor(data.x.flat(), flat) };
  const viewed = { code: `x.view(${list(cut)})`, tensor: reshape(x.tensor, cut) };
  const split = { code: `${viewed.code}.transpose(1, 2)`, tensor: transpose(viewed.tensor) };
  if (task === "split") {
    const tempting = { code: `x.view(${list(front)})`, tensor: reshape(x.tensor, front) };
    return { right: [x, viewed, split], wrong: [x, tempting, tempting] };
  }
  const from = { code: "heads", tensor: split.tensor };
  const back = { code: "heads.transpose(1, 2)", tensor: transpose(split.tensor) };
  const merged = { code: `${back.code}.reshape(${list(flat)})`, tensor: reshape(back.tensor, flat) };
  const tempting = { code: `heads.reshape(${list(flat)})`, tensor: reshape(split.tensor, flat) };
  return { right: [from, back, merged], wrong: [from, tempting, tempting] };
}

const named = (tokens) => `token${tokens.length > 1 ? "s" : ""} ${tokens.join(", ").replace(/, (\d+)$/, " and $1")}`;

picture({
  start: (data) => ({ ...data.start }),

  controls: () => [
    { kind: "choice", key: "task", label: "Task", options: [["split", "split"], ["merge", "merge"]], put: (task) => ({ task, step: 0 }) },
    { kind: "choice", key: "heads", label: "Heads", options: [[2, "2"], [3, "3"]] },
    { kind: "steps", key: "step", label: "Step", count: 3 },
    { kind: "slider", key: "place", label: "Point at number", min: 0, max: 23, step: 1, text: String },
  ],

  puzzles: () => [
    ["No transpose: whose is row 0 of head 1?", ({ task, heads, step, place }) =>
      task === "split" && heads === 2 && step > 0 && place >= 12 && place < 15],
    ["Three heads: which one gets tokens 1 and 2?", ({ task, heads, step, place }) =>
      task === "split" && heads === 3 && step > 0 && place >= 8 && place < 16],
    ["Merge, no transpose: find 13.", ({ task, step }, { wrong }) => task === "merge" && step > 0 && wrong.number === 13],
  ],

  keys: "On the slider, arrow keys point at the next number.",

  numbers(state, data) {
    const { right, wrong } = ways(state, data);
    const found = ({ tensor }) => {
      const at = inMemory(tensor, state.place);
      const values = read(tensor);
      return { ...tensor, values, index: index(state.place, tensor.shape), at, number: values[state.place] };
    };
    return { right: found(right[state.step]), wrong: found(wrong[state.step]) };
  },

  layout({ width, height, narrow }) {
    const gap = 34;
    if (narrow) return { narrow, width, height: (height - 16) / 2, at: [[0, 0], [0, (height + 16) / 2]] };
    return { narrow, width: (width - gap) / 2, height, at: [[0, 0], [(width + gap) / 2, 0]] };
  },

  draw(pen, state, numbers, L, data) {
    const way = ways(state, data);
    const done = state.step === 2;
    panel(pen, "right", "With transpose", way.right[state.step].code, numbers.right, L, L.at[0], state, done ? "good" : "");
    panel(pen, "wrong", "Without transpose", way.wrong[state.step].code, numbers.wrong, L, L.at[1], state, state.step ? "bad" : "");
    if (!L.narrow) pen.line("between", L.width + 17, 0, L.width + 17, L.height, "axis faint");
  },

  say(state, { right, wrong }) {
    const { task, heads, step } = state;
    const pointed = `Number ${state.place} is ${digits(right.number)} with transpose, ${digits(wrong.number)} without.`;
    const tokens = (values) => [...new Set(values.map(token))];
    const parts = (values, n) => each(n, (i) => tokens(values.slice((i * values.length) / n, ((i + 1) * values.length) / n)));
    if (!step)
      return task === "split"
        ? `Four tokens with six features each lie in memory one after the other. The tens digit is the token, the ones digit the feature. ${pointed}`
        : `The ${heads} heads, as split has left them: memory still holds token after token, and the strides say where to read. ${pointed}`;
    if (task === "split") {
      const got = parts(wrong.values, heads).map((some, head) => `head ${head} gets ${named(some)}`).join(", ");
      if (step === 1) return `View cuts the last axis, the features, and each token keeps its own. Without transpose it cuts the sentence: ${got}. ${pointed}`;
      return `With transpose every head has all four tokens. Without: ${got}. The shape is the same, and no error tells you. ${pointed}`;
    }
    if (step === 1) return `Transpose brings each token's heads side by side again. Reshape alone copies the numbers in reading order: row 0 holds ${named(parts(wrong.values, 4)[0])}. ${pointed}`;
    return `With transpose each row is one token again. Without, row 0 mixes ${named(parts(wrong.values, 4)[0])}, in a new memory. ${pointed}`;
  },
});

/** One way: what is called, the shape, the numbers as blocks of rows, and how they lie in memory. */
function panel(pen, key, title, code, { shape, strides, values, memory, index, at, number }, L, [x, y], state, verdict) {
  const mark = { good: " ✓", bad: state.step === 2 ? " ✗" : "" }[verdict] ?? "";
  pen.text(`${key} title`, x, y + 12, title + mark, `strong ${verdict}`);
  pen.put(`${key} code`, "text", { x, y: y + 32, class: "small", style: "font-family: ui-monospace, monospace" }, code);
  pen.text(`${key} shape`, x, y + 51, `shape (${shape.join(", ")})`, "small quiet");
  pen.text(`${key} strides`, x + L.width, y + 51, `strides (${strides.join(", ")})`, "small quiet end");

  // the blocks: the axes after the batch are blocks, rows and columns
  const [blocks, rows, columns] = shape.length === 3 ? [1, ...shape.slice(1)] : shape.slice(1);
  const label = 52;
  const gap = 10;
  const strip = L.width < 420 ? 2 : 1; // lines of memory
  const line = strip === 2 ? 24 : 26;
  const foot = y + L.height - strip * line - 20;
  const room = foot - 24 - (y + 74);
  const side = Math.min(36, (L.width - label - gap * (blocks - 1)) / (blocks * columns), room / 4);
  const front = blocks !== 4 && blocks > 1; // heads are the blocks
  each(blocks, (block) => {
    const left = x + label + block * (columns * side + gap);
    const full = !block || columns * side > 52 ? (front ? "head " : "token ") : "";
    const name = blocks === 1 ? "" : full + block;
    if (name) pen.text(`${key} block ${block}`, left + (columns * side) / 2, y + 70, name, "small strong middle");
  });
  each(rows, (row) => {
    const sure = key === "right" || state.step === 0;
    const name = rows === 4 ? `${sure ? "token" : "row"} ${row}` : `head ${row}`;
    pen.text(`${key} line ${row}`, x + label - 6, y + 76 + side * (row + 0.5) + 4, name, "small end");
  });
  const spot = (place) => {
    const [column, row, block] = [place % columns, Math.floor(place / columns) % rows, Math.floor(place / columns / rows)];
    return [x + label + block * (columns * side + gap) + column * side, y + 76 + row * side];
  };
  // a cell is known by its number, so that it moves when the number does
  const cell = (name, value, cx, cy, wide, tall, shows, size) => {
    const style = `fill: currentColor; fill-opacity: ${0.1 + 0.06 * (value % 10)}; stroke: currentColor`;
    const move = `transform: translate(${cx}px, ${cy}px)`;
    pen.put(`${name} cell ${value}`, "rect", {
      x: 1, y: 1, width: wide - 2, height: tall - 2, rx: 3, class: `moves ${TOKENS[token(value)]}`, style: `${style}; ${move}`,
    });
    pen.put(`${name} number ${value}`, "text", {
      x: wide / 2, y: tall / 2 + 4.5, class: "moves middle", style: `font-size: ${size}px; ${move}`, "data-shows": shows,
    }, digits(value));
  };
  [...values.keys()].sort((a, b) => values[a] - values[b]).forEach((place) => {
    cell(key, values[place], ...spot(place), side, side, `${key}.values.${place}`, side < 28 ? 11.5 : 13);
  });
  const [hx, hy] = spot(state.place);
  pen.rect(`${key} here`, hx, hy, side, side, "stroke", { rx: 4 });

  // memory
  const wide = (L.width * strip) / values.length;
  const sum = index.slice(1).map((i, axis) => `${i}·${strides[axis + 1]}`).join(" + ");
  const where = L.width < 300 ? "" : `[${index.join(", ")}] → `;
  const copied = memory.some((value, n) => n && value < memory[n - 1]);
  const name = copied ? "A copy in memory" : strip === 2 ? "In memory" : "In memory, one line";
  pen.text(`${key} memory`, x, foot - 4, name, `small strong ${copied ? "bad" : ""}`);
  pen.text(`${key} sum`, x + L.width, foot - 4, `${digits(number)}: ${where}${sum} = ${at}`, "small end");
  const slot = (n) => [x + (n % (values.length / strip)) * wide, foot + 3 + Math.floor(n / (values.length / strip)) * line];
  [...memory.keys()].sort((a, b) => memory[a] - memory[b]).forEach((n) => {
    cell(`${key} memory`, memory[n], ...slot(n), wide, line - 2, `${key}.memory.${n}`, wide < 22 ? 10.5 : 11.5);
  });
  const [mx, my] = slot(at);
  pen.rect(`${key} there`, mx, my, wide, line - 2, "stroke", { rx: 4 });
  pen.text(`${key} ends`, x, foot + strip * line + 15, "0", "small quiet");
  pen.text(`${key} last`, x + L.width, foot + strip * line + 15, "place 23", "small quiet end");
}
