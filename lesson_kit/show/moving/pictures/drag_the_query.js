// data: {start, examples: [{names, keys, values, query, d_k, features, reach}, ...]}, for 2, 3 and 4 keys.
// state: {keys: 2 ... 4, x, y: the query, angle: its direction in degrees, kept while its length is 0}

const LEAST_KEYS = 2;
const STEP = 0.1;
const degrees = (x, y) => ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360;
const tidy = (x) => Math.round(x * 1e6) / 1e6;
const example = (state, data) => data.examples[state.keys - LEAST_KEYS];

function begin(keys, data) {
  const [x, y] = data.examples[keys - LEAST_KEYS].query;
  return { keys, x, y, angle: degrees(x, y) };
}

/** The query at (x, y), or as far that way as it may go; in steps, so that equal weights can be reached exactly. */
function at(x, y, reach, state) {
  const shrink = Math.min(1, reach / Math.hypot(x, y));
  const snap = (value) => tidy((shrink < 1 ? Math.trunc(tidy((value * shrink) / STEP)) : Math.round(value / STEP)) * STEP);
  [x, y] = [snap(x), snap(y)];
  return { x, y, angle: x || y ? degrees(x, y) : state.angle };
}

/** The corners of the smallest convex region around the points, in order. */
function around(points) {
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (sweep) => {
    const kept = [];
    for (const point of sweep) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half([...sorted].reverse())];
}

/** From two features to pixels, the same scale both ways: `box` in pixels, `lows` and `highs` in features. */
function plane(box, lows, highs) {
  const scale = Math.min(box.width / (highs[0] - lows[0]), box.height / (highs[1] - lows[1]));
  const middle = [(lows[0] + highs[0]) / 2, (lows[1] + highs[1]) / 2];
  const centre = [box.x + box.width / 2, box.y + box.height / 2];
  return {
    ...box,
    put: ([x, y]) => [centre[0] + scale * (x - middle[0]), centre[1] - scale * (y - middle[1])],
    read: (px, py) => [(px - centre[0]) / scale + middle[0], (centre[1] - py) / scale + middle[1]],
  };
}

function axes(pen, key, where, title, point, classes, features) {
  const [ox, oy] = where.put([0, 0]);
  const [right, foot] = [where.x + where.width, where.y + where.height];
  pen.rect(`${key} box`, where.x, where.y, where.width, where.height, "frame");
  if (oy > where.y && oy < foot) pen.line(`${key} across`, where.x, oy, right, oy, "axis");
  if (ox > where.x && ox < right) pen.line(`${key} up`, ox, where.y, ox, foot, "axis");
  pen.text(`${key} title`, where.x, where.y - 7, title, "strong");
  const [x, y] = point.map((number) => fixed(number));
  pen.put(`${key} point`, "text", { x: right, y: where.y - 7, class: `end strong ${classes}` }, `(${x}, ${y})`);
  if (!features) return;
  pen.text(`${key} feature 1`, right - 5, foot - 6, `${short(features[0])} →`, "small quiet end halo");
  pen.text(`${key} feature 2`, where.x + 6, where.y + 15, `↑ ${short(features[1])}`, "small quiet halo");
}

/** A name near (x, y), towards `to` from there, as far as the plane goes. */
function name(pen, key, [x, y], [tx, ty], text, where, classes, gap = 12) {
  const half = 4 * [...text].length + 2;
  const far = Math.hypot(tx, ty) || 1;
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const cx = clamp(x + ((gap + half) * tx) / far, where.x + half + 2, where.x + where.width - half - 2);
  const cy = clamp(y + ((gap + 5) * ty) / far + 5, where.y + 15, where.y + where.height - 6);
  pen.text(key, cx, cy, text, `middle strong halo ${classes}`);
}

picture({
  start: (data) => begin(data.start, data),

  controls: (data) => [
    {
      kind: "choice", key: "keys", label: "Keys",
      options: [[2, "two"], [3, "three"], [4, "four"]],
      put: (keys) => begin(keys, data),
    },
    {
      kind: "slider", key: "angle", label: "Direction", min: 0, max: 355, step: 5,
      text: (angle) => `${fixed(angle, 0)}°`,
      put: (angle, { x, y }) => {
        const length = Math.hypot(x, y);
        const turned = (angle * Math.PI) / 180;
        return { angle, x: length * Math.cos(turned), y: length * Math.sin(turned) };
      },
    },
    {
      kind: "slider", key: "length", label: "Length", min: 0, max: (state) => example(state, data).reach, step: STEP,
      get: ({ x, y }) => Math.hypot(x, y),
      text: (length) => fixed(length),
      put: (length, state) => {
        const turned = (state.angle * Math.PI) / 180;
        return { x: length * Math.cos(turned), y: length * Math.sin(turned) };
      },
    },
  ],

  puzzles: (data) => [
    ["Turn it until another key wins.", (state, { weights }) => {
      const { query, keys } = example(state, data);
      const winner = (values) => values.indexOf(Math.max(...values));
      const before = keys.map((key) => dot(query, key));
      return weights[winner(weights)] - weights[winner(before)] > 0.05;
    }],
    ["Give one key a weight of 0.9.", (state, { weights }) => Math.max(...weights) >= 0.9],
    ["Two equal weights, from a query longer than 2.", (state, { weights, length }) => {
      const [largest, second] = [...weights].sort((a, b) => b - a);
      return length > 2 && largest - second < 0.005;
    }],
    ["The output exactly on a value: can you?", () => false],
  ],

  keys: "On the query, arrow keys move it by 0.1, with Shift by 0.5; a click takes it there.",

  numbers(state, data) {
    const { keys, values, d_k } = example(state, data);
    const query = [state.x, state.y];
    const dots = keys.map((key) => dot(query, key));
    const scores = dots.map((product) => product / Math.sqrt(d_k));
    const weights = softmax(scores);
    const output = [0, 1].map((feature) => weights.reduce((sum, weight, i) => sum + weight * values[i][feature], 0));
    return { query, length: Math.hypot(...query), dots, scores, weights, output };
  },

  layout({ width, height, narrow }, state, data) {
    const { values, reach } = example(state, data);
    const rows = state.keys;
    const top = 22;
    let boxes;
    if (narrow) {
      const [row, gap] = [32, 14];
      const table = rows * row + top;
      const side = Math.min(width, (height - table - 2 * top - 2 * gap) * 0.6);
      const below = height - side - table - 2 * top - 2 * gap;
      boxes = {
        keys: { x: 0, y: top, width, height: side },
        table: { x: 0, y: top + side + gap, width, row, top },
        values: { x: 0, y: height - below, width, height: below },
      };
    } else if (width < 640) {
      const side = Math.min(height - top, width * 0.5);
      const [x, row] = [side + 22, 31];
      const under = top + rows * row + 10;
      boxes = {
        keys: { x: 0, y: top, width: side, height: side },
        table: { x, y: 0, width: width - x, row, top },
        values: { x, y: under + top, width: width - x, height: height - under - top },
      };
    } else {
      const side = Math.min(height - top, (width - 250) / 2);
      const right = width - side;
      const row = Math.min(80, (height - top) / rows);
      boxes = {
        keys: { x: 0, y: top, width: side, height: side },
        table: { x: side + 26, y: 0, width: width - 2 * side - 52, row, top },
        values: { x: right, y: top, width: side, height: side },
      };
    }
    const lows = [0, 1].map((i) => Math.min(0, ...values.map((value) => value[i])));
    const highs = [0, 1].map((i) => Math.max(0, ...values.map((value) => value[i])));
    const margin = 0.3 * Math.max(highs[0] - lows[0], highs[1] - lows[1]) || 1;
    const far = reach * 1.06;
    return {
      narrow,
      table: boxes.table,
      keys: plane(boxes.keys, [-far, -far], [far, far]),
      values: plane(boxes.values, lows.map((low) => low - margin), highs.map((high) => high + margin)),
    };
  },

  draw(pen, state, numbers, layout, data, solved) {
    const { names, keys, values, d_k, features } = example(state, data);
    const { query, dots, scores, weights, output } = numbers;

    // the query among the keys; on each key's line, the query's shadow
    const here = layout.keys;
    const origin = here.put([0, 0]);
    const tip = here.put(query);
    axes(pen, "keys", here, "Query", query, "query", features);
    if (solved[2] && keys.length === 2) {
      const across = [keys[0][1] - keys[1][1], keys[1][0] - keys[0][0]]; // at right angles to the difference
      const far = (0.96 * data.examples[0].reach) / Math.hypot(...across);
      const [from, to] = [-far, far].map((by) => here.put([by * across[0], by * across[1]]));
      pen.line("tie", ...from, ...to, "stroke thin dashed good");
      const [x, y] = from[1] > to[1] ? from : to;
      pen.text("tie name", Math.min(x + 10, here.x + here.width - 118), Math.min(y + 14, here.y + here.height - 24), "here nobody wins", "small good halo");
    }
    pen.field("query", here.x, here.y, here.width, here.height);
    keys.forEach((key, i) => {
      const size = dot(key, key);
      if (!size) return;
      const foot = here.put(key.map((x) => (x * dots[i]) / size));
      pen.line(`shadow ${i}`, ...origin, ...foot, "stroke thick query faint");
      pen.line(`plumb ${i}`, ...tip, ...foot, "stroke thin dashed query");
    });
    keys.forEach((key, i) => pen.arrow(`key ${i}`, ...origin, ...here.put(key), "key"));
    pen.line("query line", ...origin, ...tip, "stroke query");
    const reached = (point) => [point[0] - origin[0], point[1] - origin[1]];
    keys.forEach((key, i) => {
      const [x, y] = reached(here.put(key));
      const side = x * reached(tip)[1] - y * reached(tip)[0] > 0 ? -1 : 1; // on the side away from the query
      name(pen, `key name ${i}`, here.put(key), [x - 0.8 * side * y, y + 0.8 * side * x], short(names[i]), here, "key", 8);
    });
    name(pen, "query name", tip, reached(tip), "query", here, "query", 16);

    // dot products, and weights from 0 to 1
    const { x, y, width, row, top } = layout.table;
    pen.text("weights title", x, y + top - 7, "Weights", "strong");
    pen.text("weights dot", x + width - 56, y + top - 7, "q · k", "small end");
    pen.text("weights score", x + width, y + top - 7, `÷ √${d_k}`, "small quiet end");
    names.forEach((text, i) => {
      const middle = y + top + row * i;
      const wide = row > 44;
      const [line, bar, tall] = wide ? [middle + 18, middle + 27, 18] : [middle + 12, middle + 16, 11];
      const room = width - 40;
      pen.text(`row ${i}`, x, line, short(text), "strong key");
      pen.text(`dot ${i}`, x + width - 56, line, fixed(dots[i]), "small end", `dots.${i}`);
      pen.text(`score ${i}`, x + width, line, fixed(scores[i]), "small quiet end", `scores.${i}`);
      pen.rect(`track ${i}`, x, bar, room, tall, "track", { rx: 3 });
      pen.rect(`bar ${i}`, x, bar, room * weights[i], tall, "weight fill", { rx: 3 });
      pen.text(`weight ${i}`, x + width, bar + tall - 3, fixed(weights[i]), "end strong weight", `weights.${i}`);
    });

    // the output among the values
    const there = layout.values;
    const places = values.map(there.put);
    const out = there.put(output);
    axes(pen, "values", there, "Output", output, "output");
    const corners = around(values).map(there.put);
    pen.path("region", `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, "value tint");
    pen.path("edge", `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, "stroke thin value");
    const centre = [0, 1].map((i) => places.reduce((sum, place) => sum + place[i], 0) / places.length);
    places.forEach(([px, py], i) => {
      pen.put(`pull ${i}`, "line", {
        x1: px, y1: py, x2: out[0], y2: out[1], class: "stroke output", "stroke-opacity": 0.75,
        style: `stroke-width: ${(1 + 7 * weights[i]).toFixed(2)}px`,
      });
      pen.rect(`value ${i}`, px - 6, py - 6, 12, 12, "value fill");
      name(pen, `value name ${i}`, [px, py], [px - centre[0], py - centre[1]], short(names[i]), there, "value", 10);
    });
    pen.circle("output", ...out, 8, "output fill", { stroke: "var(--ground)" });

    pen.handle("query", ...tip, "query");
  },

  say(state, { query, length, weights, output }, data) {
    const { names } = example(state, data);
    const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
    const [first, second] = order;
    let meaning = `Its direction fits ${names[first]} best: weight ${fixed(weights[first])}. Longer, it would choose more firmly.`;
    if (length < 1e-9) meaning = "A query of length 0 asks nothing: all weights are equal.";
    else if (weights[first] - weights[second] < 0.005)
      meaning = `At right angles to the difference of ${names[first]} and ${names[second]}, it cannot choose between them, however long it is.`;
    else if (weights[first] > 0.95)
      meaning = `Nearly all the weight is on ${names[first]}: ${fixed(weights[first], 4)}. The output comes close to its value and never reaches it, since no weight is 0.`;
    const shares = names.map((text, i) => `${text} ${fixed(weights[i])}`).join(", ");
    const place = (pair) => `(${pair.map((x) => fixed(x)).join(", ")})`;
    return `${meaning} Query ${place(query)}, length ${fixed(length)}. Weights: ${shares}. Output ${place(output)}.`;
  },

  handles: (data) => ({
    query: {
      label: "Query",
      min: 0,
      max: 360,
      now: ({ angle }) => Math.round(angle),
      text: ({ x, y }) => `${fixed(x)} and ${fixed(y)}, length ${fixed(Math.hypot(x, y))}`,
      by(state, dx, dy, large) {
        const far = large ? 5 * STEP : STEP;
        return at(state.x + far * dx, state.y + far * dy, example(state, data).reach, state);
      },
      to(state, px, py, layout) {
        return at(...layout.keys.read(px, py), example(state, data).reach, state);
      },
    },
  }),
});
