// data: {tokens, layers, model, words: [{word, place: of its token, into: [replacements], moved: for each of them
// {all, none, last: rows, one for each state of the stream}}, ...]}; a row has a number for each token, or only that of the word's own token,
// where no other has moved. state: {word, into0 ... into3: the replacement chosen for each word, attention, step}

const FULL = 1; // a change as long as the vector itself has the full colour, and so has a longer one
const into = (state) => state[`into${state.word}`];
const now = (state, data) => data.words[state.word].moved[into(state)][state.attention];
const last = (data) => 2 * data.layers;
const layer = (step) => Math.floor((step - 1) / 2);
const isAttention = (step) => step % 2 === 1;
const keeps = (step, { attention }, data) => attention === "all" || (attention === "last" && layer(step) === data.layers - 1);
const wide = (row, place, data) => (row.length > 1 ? row : data.tokens.map((_, i) => (i === place ? row[0] : 0)));

function called(step, state, data) {
  if (!step) return "the embeddings";
  const off = isAttention(step) && !keeps(step, state, data) ? " (left out)" : "";
  return `layer ${layer(step)}'s ${isAttention(step) ? "attention" : "feed-forward network"}${off}`;
}

/** How far the first token has moved at the top, for each change; and whether this change is the first or last of them. */
function extreme(state, data, most) {
  const atTop = (word, i) => wide(data.words[word].moved[i].all.at(-1), data.words[word].place, data)[0];
  const all = data.words.flatMap(({ into }, word) => into.map((_, i) => atTop(word, i)));
  const wanted = most ? Math.max(...all) : Math.min(...all);
  return state.attention === "all" && state.step === last(data) && atTop(state.word, into(state)) === wanted;
}

picture({
  start: (data) => ({
    word: 0, ...Object.fromEntries(data.words.map((_, i) => [`into${i}`, 0])), attention: "all", step: 0,
  }),

  controls: (data) => [
    { kind: "choice", key: "word", label: "Change", options: data.words.map(({ word }, i) => [i, short(word)]) },
    ...data.words.map(({ into }, i) => ({
      kind: "choice", key: `into${i}`, label: "into", when: ({ word }) => word === i,
      options: into.map((word, k) => [k, short(word)]),
    })),
    {
      kind: "steps", key: "step", label: "Step", count: last(data) + 1, play: 700,
      text: ({ step }) => `${step} of ${last(data)}`,
    },
    {
      kind: "choice", key: "attention", label: "Attention in",
      options: [["all", "all layers"], ["none", "none"], ["last", "the last"]],
    },
  ],

  puzzles: (data) => [
    ["Keep a change in its lane to the end.", (state, { reached }) => state.step === last(data) && reached === 1],
    [`Which change moves ${short(data.tokens[0])} most, at the end?`, (state) => extreme(state, data, true)],
    ["And which one least?", (state) => extreme(state, data, false)],
  ],

  keys: "Enter presses a button, the arrow keys change a choice.",

  numbers(state, data) {
    const { place } = data.words[state.word];
    const grid = now(state, data).slice(0, state.step + 1).map((row) => wide(row, place, data));
    const moved = grid.at(-1);
    return { grid, moved, reached: moved.filter((share) => share > 0).length };
  },

  layout({ width, height, narrow }, state, data) {
    const [label, panel, gap] = narrow ? [66, 92, 5] : width < 900 ? [74, 140, 9] : [78, 212, 20];
    const column = (width - label - panel - gap * data.layers) / (last(data) + 1);
    const top = 40;
    const row = Math.min(24, (height - top - 6) / data.tokens.length);
    return {
      narrow, tight: width < 900, label, panel, gap, column, top, row, width,
      x: (step) => label + column * step + gap * Math.ceil(step / 2),
      y: (token) => top + row * token,
    };
  },

  draw(pen, state, { grid, moved }, { narrow, tight, panel, gap, column, top, row, width, x, y }, data) {
    const { place, word, into: replacements } = data.words[state.word];
    const n = data.tokens.length;
    const foot = top + row * n;

    // what happens where: each layer's two sublayers
    pen.text("embeddings", x(0) + column / 2, 32, tight ? "in" : "embed.", `small middle ${state.step ? "quiet" : "strong"}`);
    for (let step = 1; step <= last(data); step++) {
      const middle = x(step) + column / 2;
      const current = step === state.step ? "strong" : "quiet";
      if (isAttention(step)) pen.text(`layer ${step}`, x(step) + column, 14, narrow ? String(layer(step)) : `layer ${layer(step)}`, "small middle");
      const off = isAttention(step) && !keeps(step, state, data);
      if (!tight) pen.text(`sublayer ${step}`, middle, 32, isAttention(step) ? (off ? "off" : "attn") : "FFN", `small middle ${current}`);
    }

    // lanes, and where they meet
    const lanes = (from, to) => data.tokens.map((_, i) => `M${from} ${y(i) + row / 2}H${to}`).join("");
    data.tokens.forEach((token, i) => pen.text(`token ${i}`, 0, y(i) + row / 2 + 5, short(token, 9), i === place ? "strong output" : ""));
    pen.path("lanes", lanes(x(0), x(state.step) + column), "axis");
    pen.path("ahead", lanes(x(state.step) + column, x(last(data)) + column), "axis dotted");
    for (let step = 1; step <= state.step; step += 2) {
      if (!keeps(step, state, data)) continue;
      const [from, to] = [x(step - 1) + column, x(step)];
      grid[step - 1].forEach((share, i) => {
        if (!share) return;
        const ways = data.tokens.map((_, j) => `M${from} ${y(i) + row / 2}L${to} ${y(j) + row / 2}`).join("");
        pen.path(`ways ${step} ${i}`, ways, "stroke thin output", { "stroke-opacity": (step === state.step ? 0.8 : 0.4) * Math.min(1, share / FULL) });
      });
    }

    // how far each vector has moved, after each sublayer so far; the frames of a column are one path
    grid.forEach((shares, step) => {
      const left = x(step);
      const frames = shares.map((_, i) => `M${left} ${y(i) + 1}h${column - 1}v${row - 2}h${1 - column}Z`);
      pen.path(`frames ${step}`, frames.join(""), "track");
      shares.forEach((share, i) => {
        const full = Math.min(1, share / FULL);
        if (share > 0)
          pen.rect(`cell ${step} ${i}`, left, y(i) + 1, column - 1, row - 2, "fill output", { "fill-opacity": 0.75 * full });
        if (!narrow && column > 32)
          pen.text(`share ${step} ${i}`, left + column / 2, y(i) + row / 2 + 5, exact(share), `small middle ${full > 0.3 ? "halo" : share ? "" : "quiet"}`, `grid.${step}.${i}`);
      });
    });
    pen.rect("now", x(state.step) - 2, top - 1, column + 3, row * n + 2, "stroke thin output", { rx: 3 });

    // the newest, as bars
    const [left, right] = [width - panel + (narrow ? 8 : 26), width - 36];
    const longest = Math.max(FULL, ...data.words.flatMap(({ moved }) => moved.flatMap(({ all, none, last }) => [all, none, last].flat(2))));
    const one = ((right - left) * FULL) / longest;
    if (!tight) pen.text("bars title", left, 14, `${short(word)} → ${short(replacements[into(state)])}: moved`, "strong");
    pen.text("bars zero", left, 32, "0", "small quiet middle");
    pen.text("bars one", left + one, 32, tight ? "1" : "1: its own length", "small quiet middle");
    moved.forEach((share, i) => {
      pen.rect(`bar ${i}`, left, y(i) + 4, ((right - left) * share) / longest, row - 8, "fill output", { rx: 2 });
      pen.text(`moved ${i}`, width, y(i) + row / 2 + 5, exact(share), `end ${i === place ? "strong output" : ""}`, `moved.${i}`);
    });
    pen.line("bars start", left, top, left, foot, "axis");
    pen.line("bars length", left + one, top, left + one, foot, "axis");
  },

  say(state, { moved, reached }, data) {
    const { word, into: replacements } = data.words[state.word];
    const order = moved.map((_, i) => i).sort((a, b) => moved[b] - moved[a]);
    const most = order.slice(0, 3).map((i) => `${data.tokens[i]} (${fixed(moved[i])})`).join(", ");
    const change = `${word} becomes ${replacements[into(state)]}`;
    const where = state.step ? `After ${called(state.step, state, data)}` : `In ${called(0, state, data)}`;
    const n = data.tokens.length;
    let meaning = `${reached} of ${n} tokens have moved, most of all ${most}.`;
    if (reached === 1) {
      meaning = `only ${data.tokens[order[0]]} has moved, by ${fixed(moved[order[0]])} of its length.`;
      if (state.step && !isAttention(state.step)) meaning += " A feed-forward network treats each token alone.";
      else if (state.step) meaning += " Without attention no token learns of another.";
    } else if (state.step === 1) meaning += " Attention is where they meet.";
    return `${change}. ${where} ${meaning}`;
  },
});
