// data: {tokens, scores: rows look at columns, mask: true where looking is allowed, row: which row is shown at first}
// state: {mask, when: "before" | "after" the softmax, fill: a key of FILLS, shift: added to all scores, row}

const LOWEST = -Number.MAX_VALUE;
const FILLS = { "-inf": -Infinity, "-1e9": -1e9, "-10": -10, 0: 0, course: LOWEST };
const NAMES = { "-inf": "−∞", "-1e9": "−1e9", "-10": "−10", 0: "0", course: "course" };
const sum = (row) => row.reduce((a, b) => a + b, 0);
const each = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const square = (n, make) => each(n, (i) => each(n, (j) => make(i, j)));

/** One row from its scores to its weights, with all that lies between. */
function attendOneRow(raw, open, { when, fill, shift }) {
  const scores = raw.map((score) => score + shift);
  if (when === "after") {
    const shares = softmax(scores);
    return { scores, filled: scores, shares, weights: shares.map((share, j) => (open[j] ? share : 0)) };
  }
  const filled = scores.map((score, j) => (open[j] ? score : FILLS[fill]));
  const shares = softmax(filled);
  const weights = fill === "course" ? shares.map((share, j) => (open[j] ? share : 0)) : shares;
  return { scores, filled, shares, weights };
}

picture({
  start: (data) => ({ mask: structuredClone(data.mask), when: "before", fill: "-inf", shift: 0, row: data.row }),

  controls(data) {
    const n = data.tokens.length;
    const padding = data.tokens[n - 1] === "[PAD]";
    const presets = [
      ["All", () => true],
      ["Causal", (i, j) => j <= i],
      ...(padding ? [["Padding", (i, j) => j < n - 1], ["Both", (i, j) => j <= i && j < n - 1]] : []),
    ];
    return [
      { kind: "buttons", label: "Mask", buttons: presets.map(([text, open]) => [text, () => ({ mask: square(n, open) })]) },
      { kind: "choice", key: "when", label: "Hide", options: [["before", "before the softmax"], ["after", "after it"]] },
      {
        kind: "choice", key: "fill", label: "Fill", options: ["-inf", "-1e9", "-10", "0", "course"].map((key) => [key, NAMES[key]]),
        when: ({ when }) => when === "before",
      },
      { kind: "slider", key: "shift", label: "Add to all scores", min: -30, max: 0, step: 1, text: (shift) => fixed(shift, 0) },
      {
        kind: "cells", key: "mask", label: "Who may look at whom: a row looks at a column", rows: data.tokens, columns: data.tokens,
        corner: "looks at →", focus: (i) => ({ row: i }), chosen: ({ row }) => row,
        name: (i, j) => `${data.tokens[i]} looks at ${data.tokens[j]}`,
        put: (i, j, { mask }) => ({ mask: mask.map((row, k) => row.map((open, l) => (k === i && l === j ? !open : open))) }),
        look(i, j, { mask }, { weights }) {
          const [weight, open] = [weights[i][j], mask[i][j]];
          const text = exact(weight);
          const title = `${open ? "may" : "may not"}, weight ${text}`;
          return { pressed: open, text, title, classes: open ? "" : "hatched", shows: `weights.${i}.${j}`, tint: weight || 0 };
        },
        after: [
          ["sum", (i, _, { sums }) => ({ text: exact(sums[i]), shows: `sums.${i}`, classes: Math.abs(sums[i] - 1) < 0.005 ? "" : "bad" })],
          ["leak", (i, _, { leaks }) => ({ text: exact(leaks[i]), shows: `leaks.${i}`, classes: leaks[i] > 0.005 ? "bad" : "quiet" })],
        ],
      },
    ];
  },

  stageFrom: 680,

  puzzles: () => [
    ["Hide every word's future.", ({ mask }) => mask.every((row, i) => row.every((open, j) => (j > i ? !open : i !== j || open)))],
    ["Get a row that does not sum to 1.", (_, { sums }) => sums.some((total) => total > 0.01 && total < 0.99)],
    ["Get a NaN.", (_, { sums }) => sums.some(Number.isNaN)],
    ["Let a tenth leak past −10.", ({ fill, when, mask }, { leaks }) =>
      fill === "-10" && when === "before" && leaks.some((leak, i) => leak > 0.1 && mask[i].includes(true))],
  ],

  keys: "In the square, arrow keys go from cell to cell and from row to row, Space opens and closes.",

  numbers(state, data) {
    const rows = data.scores.map((raw, i) => attendOneRow(raw, state.mask[i], state));
    const weights = rows.map((row) => row.weights);
    const leaks = weights.map((row, i) => sum(row.map((weight, j) => (state.mask[i][j] ? 0 : weight))));
    return { weights, sums: weights.map(sum), leaks, row: rows[state.row] };
  },

  layout({ width, height }, state, data) {
    const label = width < 420 ? 58 : 92;
    const column = (width - label) / data.tokens.length;
    return { width, height, label, column, at: (j) => label + column * (j + 0.5) };
  },

  draw(pen, state, { row }, { width, height, label, at, column }, data) {
    const open = state.mask[state.row];
    pen.text("title", 0, 14, `Row ${short(data.tokens[state.row])}, step by step`, "strong");
    data.tokens.forEach((token, j) => pen.text(`key ${j}`, at(j), 38, short(token, column < 60 ? 6 : 9), "middle strong key"));
    const gap = Math.max(20, Math.min(34, (height - 100) / 4.4));
    let y = 40;
    const line = (key, name, values, show, shows) => {
      y += gap;
      pen.text(`${key} name`, 0, y, name, "small quiet");
      values.forEach((value, j) => {
        if (!open[j] && key !== "scores") pen.rect(`${key} hidden ${j}`, at(j) - column / 2 + 3, y - 17, column - 6, 23, "frame dashed");
        pen.text(`${key} ${j}`, at(j), y, show(value, j), `middle ${column < 56 ? "small" : ""} ${key === "weights" ? "strong weight" : ""}`, shows && `row.${key}.${j}`);
      });
    };
    const finite = (value) => (value === LOWEST ? "lowest" : value === -1e9 ? "−1e9" : fixed(value));
    line("scores", "score", row.scores, (value) => fixed(value), true);
    if (state.when === "before") {
      line("filled", "filled", row.filled, finite, false);
      if (state.fill === "course") line("shares", "softmax", row.shares, (value) => exact(value), true);
      line("weights", state.fill === "course" ? "× mask" : "softmax", row.weights, (value) => exact(value), true);
    } else {
      line("shares", "softmax", row.shares, (value) => exact(value), true);
      line("weights", "× mask", row.weights, (value) => exact(value), true);
    }
    const top = y + 14;
    const tall = Math.max(20, height - top - 4);
    const wide = Math.min(46, column - 10);
    pen.text("one", 0, top + 11, "1", "small quiet");
    pen.text("zero", 0, top + tall, "0", "small quiet");
    row.weights.forEach((weight, j) => {
      const part = tall * (weight || 0);
      pen.rect(`track ${j}`, at(j) - wide / 2, top, wide, tall, open[j] ? "track" : "track hatch", { rx: 3 });
      pen.rect(`bar ${j}`, at(j) - wide / 2, top + tall - part, wide, part, "weight fill", { rx: 3 });
    });
  },

  say({ mask, when, fill, row, shift }, { weights, sums, leaks }, data) {
    const shares = weights[row].map((weight, j) => `${data.tokens[j]} ${exact(weight)}`).join(", ");
    const name = `“${data.tokens[row]}”`;
    let meaning = `The row of ${name} sums to ${exact(sums[row])}.`;
    if (!mask[row].includes(true) && when === "before") {
      meaning = {
        "-inf": `${name} may look at nothing, and its row is NaN: 0 divided by 0.`,
        course: `${name} may look at nothing: the course, as PyTorch, gives it weights of 0.`,
      }[fill] ?? `${name} may look at nothing, but gives equal weight to all that it may not see.`;
    } else if (when === "after" && sums[row] < 0.995) meaning = `The hidden keys had already taken their share: the row of ${name} sums to ${fixed(sums[row])}, not to 1.`;
    else if (leaks[row] > 0) meaning = `Filled with ${NAMES[fill]}, the hidden keys still get ${fixed(leaks[row], 4)} of the row of ${name}.`;
    else if (mask[row].includes(false)) meaning = `The hidden keys of ${name} get exactly 0, and the others share the 1.`;
    return `${meaning} Weights: ${shares}.`;
  },
});
