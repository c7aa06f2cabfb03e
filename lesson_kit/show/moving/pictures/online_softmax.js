// data: {examples: {name: {scores, values}}, names, shifts}
// state: {example: a name; step: keys seen, 0 ... n; shift: a place in data.shifts}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const largest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
const scoresOf = (state, data) => data.examples[state.example].scores.map((score) => score + data.shifts[state.shift]);

/** What is kept after each key: m, l, o; and the factor by which that key has shrunk the past. */
function run(scores, values) {
  let [m, l, o] = [-Infinity, 0, 0];
  return scores.map((score, i) => {
    const higher = Math.max(m, score);
    const factor = Math.exp(m - higher);
    const weight = Math.exp(score - higher);
    [m, l, o] = [higher, l * factor + weight, o * factor + weight * values[i]];
    return { m, l, o, factor };
  });
}

picture({
  start: (data) => ({ example: Object.keys(data.examples)[0], step: 2, shift: 0 }),

  controls: (data) => {
    const examples = Object.keys(data.examples);
    return [
      {
        kind: "steps", key: "step", label: "Keys", count: data.names.length + 1, play: 900,
        text: (state) => `${state.step} of ${data.names.length}`,
      },
      {
        kind: "choice", key: "example", label: "Scores", options: examples.map((name) => [name, name]),
        when: () => examples.length > 1,
      },
      {
        kind: "choice", key: "shift", label: "Add to all",
        options: data.shifts.map((shift, place) => [place, `+${shift}`]),
      },
    ];
  },

  puzzles: (data) => [
    ["Find a key that shrinks the past to less than a quarter.", (state, { factor }) => state.step > 1 && factor < 0.25],
    ["Make the sum without m overflow.", (state, { plain }) => plain === null],
    ["Let them all arrive. What does the order change?", (state) => state.step === data.names.length],
  ],

  keys: "Back, Next and Play let the keys arrive.",

  numbers(state, data) {
    const { values } = data.examples[state.example];
    const scores = scoresOf(state, data);
    const seen = scores.slice(0, state.step);
    const kept = run(seen, values).at(-1) ?? { m: null, l: 0, o: 0, factor: 1 };
    const plain = Math.fround(sum(seen.map((score) => Math.fround(Math.exp(score)))));
    return {
      scores,
      m: kept.m,
      l: kept.l,
      o: kept.o,
      factor: state.step > 1 ? kept.factor : 1,
      parts: seen.map((score) => Math.exp(score - kept.m)),
      output: state.step ? kept.o / kept.l : null,
      end: run(scores, values).map(({ o, l }) => o / l).at(-1),
      plain: Number.isFinite(plain) ? plain : null, // the sum of e^s in float32; null: too large for it
    };
  },

  layout({ width, height, narrow }, state, data) {
    const n = data.names.length;
    const low = 78;
    const table = narrow ? 104 : height - low - 20;
    const side = narrow ? width : 216;
    const bars = narrow
      ? { x: 0, y: 22, width, height: height - table - low - 62 }
      : { x: 0, y: 22, width: width - side - 34, height: height - low - 62 };
    return {
      narrow, bars, each: bars.width / n,
      table: narrow ? { x: 0, y: height - table - low + 14, width, row: 30 } : { x: width - side, y: 0, width: side, row: 43 },
      line: { x: 12, y: height - 34, width: bars.width - 24 },
    };
  },

  draw(pen, state, numbers, { bars, each, table, line, narrow }, data) {
    const { scores, m, l, o, factor, parts, output, end, plain } = numbers;
    const { values } = data.examples[state.example];
    const { names } = data;
    const foot = bars.y + bars.height;

    // the keys: the part of each in the sum, from 0 to 1; its score below
    pen.text("bars title", bars.x, bars.y - 7, "Its part in the sum", "strong");
    if (bars.width > 350) pen.text("bars formula", bars.x + 166, bars.y - 7, "e to the power of (score − m)", "small quiet");
    pen.line("foot", bars.x, foot, bars.x + bars.width, foot, "axis");
    names.forEach((name, i) => {
      const [x, wide] = [bars.x + i * each + 4, each - 8];
      const centre = x + wide / 2;
      const here = i < state.step;
      const whose = i === state.step - 1 ? "query" : "weight";
      pen.rect(`track ${i}`, x, bars.y + 16, wide, bars.height - 16, here ? "track" : "frame dashed", { rx: 3 });
      if (here) {
        const tall = (bars.height - 16) * parts[i];
        pen.rect(`part ${i}`, x, foot - tall, wide, tall, `${whose} fill`, { rx: 3 });
        pen.text(`number ${i}`, centre, bars.y + 12, fixed(parts[i]), `small middle strong ${whose}`, `parts.${i}`);
      }
      pen.text(`name ${i}`, centre, foot + 16, short(name), `small middle ${here ? "strong key" : "quiet"}`);
      if (here) pen.text(`score ${i}`, centre, foot + 32, fixed(scores[i], 1), "small middle", `scores.${i}`);
    });

    // what is kept: three numbers
    const rows = [
      ["m", "the largest score so far", m, "m", ""],
      ["l", "the sum of the parts", l, "l", "weight"],
      ["o", "the parts times their values", o, "o", "output"],
    ];
    rows.forEach(([letter, words, number, path, whose], i) => {
      const y = table.y + (narrow ? 0 : 15) + i * table.row;
      pen.text(`kept ${letter}`, table.x, y, letter, `strong ${whose}`);
      pen.text(`kept ${letter} words`, table.x + (narrow ? 22 : 0), y + (narrow ? 0 : 17), words, "small quiet");
      if (number !== null)
        pen.text(`kept ${letter} number`, table.x + table.width, y, fixed(number), `end strong ${whose}`, path);
    });
    const below = table.y + (narrow ? 0 : 15) + 3 * table.row;
    const shrinks = state.step > 1 && factor < 1;
    pen.text("factor words", table.x, below, shrinks ? "the past is multiplied by" : "the past stays as it is", "small");
    if (shrinks) pen.text("factor", table.x + table.width, below, fixed(factor), "end strong bad", "factor");
    if (!narrow) {
      pen.text("plain words", table.x, below + 34, "without m, float32 holds", "small quiet");
      pen.text("plain", table.x, below + 53, plain === null ? "∞, and ∞ / ∞ is NaN" : `l = ${plain.toPrecision(3)}`, plain === null ? "strong bad" : "small quiet");
    }

    // the mixture among the values
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const at = (value) => line.x + (line.width * (value - low)) / (high - low || 1);
    pen.text("line title", bars.x, line.y - 20, "Mixture o / l", "strong output");
    if (output !== null) pen.text("output number", bars.x + 108, line.y - 20, fixed(output), "strong output", "output");
    pen.line("line", line.x, line.y, line.x + line.width, line.y, "axis");
    values.forEach((value, i) => {
      const size = i < state.step ? 4 + 8 * Math.sqrt(parts[i] / l) : 4;
      pen.rect(`value ${i}`, at(value) - size / 2, line.y - size / 2, size, size, i < state.step ? "value fill" : "frame");
      pen.text(`value name ${i}`, at(value), line.y + 24, short(names[i]), `small middle ${i < state.step ? "value" : "quiet"}`);
    });
    pen.line("end", at(end), line.y - 11, at(end), line.y + 11, "stroke thin dashed output");
    pen.text("end name", at(end) + 5, line.y - 9, "all", "small output halo");
    if (output !== null) pen.circle("output", at(output), line.y, 7, "output fill", { stroke: "var(--ground)" });
  },

  say(state, { m, l, output, factor, plain, end }, data) {
    const n = data.names.length;
    if (!state.step) return "No key has arrived: m is −∞, l and o are 0.";
    const name = data.names[state.step - 1];
    let meaning = `${name} has arrived. It is not the largest, so what was there stays.`;
    if (state.step === 1) meaning = `${name} has arrived, the first: its part is 1.`;
    else if (factor < 1) meaning = `${name} has the largest score so far: all older parts are multiplied by ${fixed(factor)}.`;
    const so = `m = ${fixed(m)}, l = ${fixed(l)}, o / l = ${fixed(output)}.`;
    const last = state.step === n ? ` That is softmax over all ${n} at once: ${fixed(end)}.` : "";
    const over = plain === null ? " Without m the sum would be ∞ in float32." : "";
    return `${meaning} ${so}${last}${over}`;
  },
});
