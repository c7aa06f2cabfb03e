// data: {hundredths: a string for each width, row by row, keys: numbers in a row, widths, temperatures, frozen, start: {width, divisor}}
// state: {width, temperature: places in those lists; divisor: "nothing", "√d_k" or "d_k"}

const SHOWN = 6; // rows
const FAR = 100; // the histogram reaches from -FAR to FAR
const BIN = 4;
const BY = { nothing: () => 1, "√d_k": Math.sqrt, d_k: (width) => width };
const sum = (values) => values.reduce((total, value) => total + value, 0);
const percent = (share) => `${fixed(100 * share, 0)}%`;
const digits = (x) => (x < 10 ? 1 : 0);
const shownT = (T) => fixed(T, T < 0.995 ? 2 : digits(T));

/** The scores of each width, [width][row][key], read once. */
let dots = null;
function dotProducts(data) {
  dots ??= data.hundredths.map((text) => {
    const flat = text.split(" ").map((number) => number / 100);
    return Array.from({ length: flat.length / data.keys }, (_, i) => flat.slice(i * data.keys, (i + 1) * data.keys));
  });
  return dots;
}

/** The size of a row's derivatives: the Frobenius norm of diag(w) - w wᵀ. */
function jacobian(weights) {
  const power = (n) => sum(weights.map((weight) => weight ** n));
  return Math.sqrt(Math.max(0, power(2) - 2 * power(3) + power(2) ** 2));
}

picture({
  start: (data) => ({ ...data.start, temperature: data.temperatures.indexOf(1) }),

  controls: (data) => [
    {
      kind: "slider", key: "width", label: "d_k", min: 0, max: data.widths.length - 1, step: 1,
      text: (place) => String(data.widths[place]),
    },
    {
      kind: "choice", key: "divisor", label: "Divide by",
      options: [["nothing", "nothing"], ["√d_k", "√d_k"], ["d_k", "d_k"]],
    },
    {
      kind: "slider", key: "temperature", label: "Temperature T", min: 0, max: data.temperatures.length - 1, step: 1,
      text: (place) => shownT(data.temperatures[place]),
    },
  ],

  puzzles: (data) => [
    ["Freeze half the rows.", (state, { frozen }) => frozen >= 0.5],
    ["At d_k = 1024, divide by nothing and melt them with T.", (state, { frozen, largest }) =>
      data.widths[state.width] === 1024 && state.divisor === "nothing" && frozen < 0.02 && largest > 0.3],
    ["Make every row flat at T = 1.", (state, { spread }) => data.temperatures[state.temperature] === 1 && spread < 0.2],
  ],

  keys: "On a slider, arrow keys turn the knob by a step.",

  numbers(state, data) {
    const width = data.widths[state.width];
    const by = BY[state.divisor](width) * data.temperatures[state.temperature];
    const scores = dotProducts(data)[state.width].map((row) => row.map((product) => product / by));
    const all = scores.flat();
    const mean = sum(all) / all.length;
    const weights = scores.map(softmax);
    return {
      spread: Math.sqrt(sum(all.map((score) => (score - mean) ** 2)) / (all.length - 1)),
      weights: weights.slice(0, SHOWN),
      largest: sum(weights.map((row) => Math.max(...row))) / weights.length,
      frozen: weights.filter((row) => jacobian(row) < data.frozen).length / weights.length,
      bins: Array.from({ length: (2 * FAR) / BIN }, (_, i) =>
        all.filter((score) => Math.floor((Math.max(-FAR, Math.min(FAR - 1e-9, score)) + FAR) / BIN) === i).length / all.length),
    };
  },

  layout({ width, height, narrow }, state, data) {
    const { keys } = data;
    if (narrow) {
      const grid = 24 + SHOWN * 30;
      return {
        bars: { x: 0, y: 24, width, height: height - grid - 24 - 36 - 80 },
        share: { x: 0, y: height - grid - 80, width },
        grid: { x: 0, y: height - grid + 24, side: width / keys, row: 30 },
      };
    }
    const side = Math.min(58, (width * 0.42) / keys);
    const left = width - side * keys - 34;
    return {
      bars: { x: 0, y: 24, width: left, height: height - 24 - 30 - 74 },
      share: { x: 0, y: height - 62, width: left },
      grid: { x: left + 34, y: 24, side, row: (height - 24) / SHOWN },
    };
  },

  draw(pen, state, numbers, { bars, share, grid }, data) {
    const { spread, weights, frozen, bins } = numbers;
    const T = data.temperatures[state.temperature];
    const formula = ["q · k", state.divisor === "nothing" ? "" : `÷ ${state.divisor}`, T === 1 ? "" : `÷ ${shownT(T)}`];

    // the scores: a histogram, and as far from 0 as they typically lie
    const foot = bars.y + bars.height;
    const at = (score) => bars.x + (bars.width * (Math.max(-FAR, Math.min(FAR, score)) + FAR)) / (2 * FAR);
    pen.text("scores title", bars.x, bars.y - 8, `Scores: ${formula.filter(Boolean).join(" ")}`, "strong");
    pen.line("foot", bars.x, foot, bars.x + bars.width, foot, "axis");
    const tallest = Math.max(...bins);
    bins.forEach((bin, i) => {
      const tall = ((bars.height - 26) * bin) / tallest;
      const wide = (bars.width * BIN) / (2 * FAR);
      pen.rect(`bin ${i}`, bars.x + i * wide + 0.5, foot - tall, Math.max(1, wide - 1), tall, "key fill");
    });
    for (const score of [-FAR, -FAR / 2, 0, FAR / 2, FAR]) {
      const anchor = score === -FAR ? "" : score === FAR ? "end" : "middle";
      pen.text(`tick ${score}`, at(score), foot + 16, fixed(score, 0), `small quiet ${anchor}`);
    }
    const level = bars.y + 8;
    pen.line("spread", at(-spread), level, at(spread), level, "stroke query");
    pen.line("spread from", at(-spread), level - 5, at(-spread), level + 5, "stroke query");
    pen.line("spread to", at(spread), level - 5, at(spread), level + 5, "stroke query");
    const [beside, below] = [spread < 0.3 * FAR, level + 22];
    const [x, y] = beside ? [at(spread) + 8, level + 5] : [at(0) - 40, below];
    pen.text("spread number", x, y, fixed(spread), "strong query halo", "spread");
    const after = x + 9 * fixed(spread).length;
    if (after + 112 < bars.x + bars.width) pen.text("spread name", after, y, "standard deviation", "small quiet halo");

    // the share of rows that can't move any more
    pen.text("frozen title", share.x, share.y + 12, "Frozen rows", "strong");
    pen.text("frozen number", share.x + share.width, share.y + 12, percent(frozen), `end strong ${frozen >= 0.05 ? "bad" : "good"}`);
    pen.rect("frozen track", share.x, share.y + 22, share.width, 20, "track", { rx: 3 });
    pen.rect("frozen bar", share.x, share.y + 22, share.width * frozen, 20, "bad fill", { rx: 3 });
    pen.text("frozen words", share.x, share.y + 58, `their weights hardly move${share.width > 290 ? " when their scores do" : ""}`, "small quiet");

    // the weights of the first rows
    pen.text("weights title", grid.x, grid.y - 8, "Weights of six queries", "strong");
    weights.forEach((row, i) => {
      const y = grid.y + i * grid.row;
      row.forEach((weight, j) => {
        const x = grid.x + j * grid.side;
        pen.rect(`cell ${i} ${j}`, x, y, grid.side - 3, grid.row - 3, "frame", { rx: 3 });
        const tall = (grid.row - 3) * weight;
        pen.rect(`level ${i} ${j}`, x, y + grid.row - 3 - tall, grid.side - 3, tall, "weight fill faint", { rx: 3 });
        pen.text(`weight ${i} ${j}`, x + (grid.side - 3) / 2, y + grid.row / 2 + 3, fixed(weight), "middle halo", `weights.${i}.${j}`);
      });
    });
  },

  say(state, { spread, frozen, largest }, data) {
    const width = data.widths[state.width];
    const T = data.temperatures[state.temperature];
    const by = { nothing: "divided by nothing", "√d_k": `divided by √${width} = ${fixed(Math.sqrt(width), 1)}`, d_k: `divided by ${width}` };
    let meaning = "Each row shares its weight out, and answers when its scores move.";
    if (frozen >= 0.05) meaning = "A frozen row is all or nothing: a small step of its scores changes nothing.";
    if (spread < 0.2) meaning = "The rows are flat: every key weighs nearly the same.";
    return `d_k = ${width}, ${by[state.divisor]}, T = ${shownT(T)}: the scores have standard deviation ${fixed(spread)}, a row's largest weight is ${fixed(largest)} on average, and ${percent(frozen)} of the rows are frozen. ${meaning}`;
  },
});
