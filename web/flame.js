// Flame graphs: the tree of calls, and of one function what led to it and what it called.
import { handleOf } from './actions.js';
import { ask, askTree, shareOf } from './ask.js';
import { button, choice, div, make, note, searchBox } from './dom.js';
import { figure, percent } from './numbers.js';
import { Picture, arrange } from './picture.js';
import { LEFT_OUT } from './profile.js';
import { questionOf } from './state.js';
import { shown } from './texts.js';
import { callTables, functionList } from './views.js';

/** What the view follows without being made anew. */
const WITHIN = ['place', 'search', 'function'];

/** A number that is the same for names that are. @param {string} text */
function hash(text) {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 8;
}

/** Colours of the functions of runs, each made when it is first asked for. @type {WeakMap<import('./profile.js').Run, number[]>} */
const coloured = new WeakMap();

/** @param {import('./profile.js').Run} run @returns {(of: number) => number} */
function colours(run) {
  const { names } = run;
  const known = coloured.get(run) ?? [];
  coloured.set(run, known);
  return (of) => (of < names.name.length ? (known[of] ??= hash(`${names.module[of]} ${names.name[of]}`)) : 0);
}

/** Pictures have no more pixels than the window, while that is not made wider: what costs less than half of one is not drawn. */
const pixels = () => Math.max(innerWidth, 800);

/** What is known of the function places of what is selected without arranging them: how many they are and how deep, their roots
 * together, and whether one costs less than nothing. @param {any} seen */
function extentOf({ tree, costs, of }) {
  const { all } = costs;
  const { level, deepest, functions } = tree.extents();
  const negative = negativeBefore(tree, costs);
  let [count, depths, total, isBelow] = [0, 0, 0, false];
  for (const root of of.outermost) {
    const end = tree.last[root] + 1;
    if (all[root] > 0) total += all[root];
    count += functions[end] - functions[root];
    if (negative[end] > negative[root]) isBelow = true;
    if (deepest[root] - level[root] >= depths) depths = deepest[root] - level[root] + 1;
  }
  return { count, depths, total, isBelow };
}

/** How many function places before each one cost less than nothing, found once. @param {import('./profile.js').Tree} tree @param {any} costs @returns {Int32Array} */
export function negativeBefore({ count, line }, costs) {
  if (costs.negative) return costs.negative;
  const { all } = costs;
  const before = new Int32Array(count + 1);
  for (let at = 0; at < count; at++) before[at + 1] = before[at] + (all[at] < 0 && line[at] < 0 ? 1 : 0);
  return (costs.negative = before);
}

/** The function places of what is selected that cost so much, as boxes to be arranged, and what the others cost that each has
 * called. @param {import('./profile.js').Run} run @param {any} seen @param {number} least */
function placesOf(run, { tree, costs, of }, least) {
  /** Few of many, mostly: memory for all of them would have to be cleared. @type {[number[], number[], number[]]} */
  const [places, parent, cost] = [[], [], []];
  // One more, that of the roots first.
  const rest = [0];
  const numbers = tree.scratch();
  const { line, parent: above, last } = tree;
  const { all } = costs;
  let found = 0;
  // One loop, as above.
  let [roots, root, next, end] = [0, -1, 0, -1];
  for (;;) {
    if (next > end) {
      if (roots === of.outermost.length) break;
      root = next = of.outermost[roots++];
      end = last[root];
    }
    const place = next++;
    if (line[place] >= 0) continue;
    let caller = -1;
    if (place !== root) {
      caller = above[place];
      caller = numbers[line[caller] >= 0 ? above[caller] : caller];
    }
    if (all[place] < least) {
      if (all[place] > 0) rest[caller + 1] += all[place];
      next = last[place] + 1;
      continue;
    }
    numbers[place] = found++;
    places.push(place);
    parent.push(caller);
    cost.push(all[place]);
    rest.push(0);
  }
  const colour = colours(run);
  return {
    places,
    boxes: {
      count: found,
      parent: Int32Array.from(parent),
      cost: Float64Array.from(cost),
      rest: Float64Array.from(rest),
      name: (/** @type {number} */ at) => run.names.name[tree.function[places[at]]] ?? LEFT_OUT,
      colour: (/** @type {number} */ at) => colour(tree.function[places[at]]),
    },
  };
}

/** Places of one function as one: what it called, merged, or who called it. Recursion counts once.
 * @param {import('./profile.js').Run} run @param {any} seen @param {boolean} isUp */
function mergedOf(run, { tree, costs, of }, isUp) {
  /** @type {number[]} */
  const parent = [];
  /** @type {number[]} */
  const cost = [];
  /** @type {number[]} */
  const functions = [];
  /** @type {number[]} */
  const own = [];
  /** @type {Map<number, number>} */
  const known = new Map();
  const box = (/** @type {number} */ above, /** @type {number} */ function_) => {
    const key = (above + 1) * (run.names.name.length + 1) + function_;
    let at = known.get(key);
    if (at === undefined) {
      at = parent.length;
      known.set(key, at);
      parent.push(above);
      cost.push(0);
      own.push(0);
      functions.push(function_);
    }
    return at;
  };
  const boxOf = new Int32Array(isUp ? 0 : tree.count);
  for (const root of of.outermost) {
    if (isUp) {
      let at = -1;
      for (let place = root; place >= 0; place = tree.caller(place)) {
        at = box(at, tree.function[place]);
        cost[at] += costs.all[root];
      }
      continue;
    }
    for (let place = root; place <= tree.last[root]; place++) {
      if (tree.line[place] >= 0) continue;
      const at = box(place === root ? -1 : boxOf[tree.caller(place)], tree.function[place]);
      boxOf[place] = at;
      cost[at] += costs.all[place];
      own[at] += costs.own[place];
    }
  }
  const colour = colours(run);
  return {
    functions,
    boxes: {
      count: parent.length,
      parent: Int32Array.from(parent),
      cost: Float64Array.from(cost),
      name: (/** @type {number} */ at) => run.names.name[functions[at]] ?? LEFT_OUT,
      colour: (/** @type {number} */ at) => colour(functions[at]),
    },
  };
}

/** What matches a search: a text in a name, whatever its case. @param {string} search @returns {((name: string) => boolean) | null} */
function matcher(search) {
  const wanted = search.toLowerCase();
  return wanted === '' ? null : (name) => name.toLowerCase().includes(wanted);
}

/** Marks what a search finds, and says which share of the picture that is. @param {Picture} picture @param {string} search */
export function find(picture, search) {
  const matches = matcher(search);
  if (matches) picture.complete();
  const { boxes } = picture;
  if (!boxes || !matches) {
    picture.isFound = () => false;
    picture.draw();
    return '';
  }
  /** @type {Map<string, boolean>} */
  const known = new Map();
  const isFound = (/** @type {number} */ at) => {
    const name = boxes.name(at);
    let found = known.get(name);
    if (found === undefined) known.set(name, (found = matches(name)));
    return found;
  };
  let [cost, count, end] = [0, 0, 0];
  for (let at = 0; at < boxes.count; at++) {
    if (!isFound(at)) continue;
    count++;
    if (at >= end) {
      cost += boxes.width[at];
      end = boxes.end[at];
    }
  }
  picture.isFound = isFound;
  picture.draw();
  return `${percent(boxes.total === 0 ? null : (100 * cost) / boxes.total)} % matched, ${count} ${count === 1 ? 'node' : 'nodes'}`;
}

/** What is said where boxes are missing: none is less wide than nothing. @param {boolean} isBelow @returns {Element | null} */
export function belowZero(isBelow) {
  return isBelow ? note('Nodes with a negative cost have no box; the table lists them.') : null;
}

/** The view. @param {import('./actions.js').Context & {command: any}} context */
export async function flameView(context) {
  const { run, state, go } = context;
  const question = questionOf(state, 'tree');
  const seen = await askTree(run, question);
  const { metric, tree, costs, header } = seen;
  const say = (/** @type {string} */ name, /** @type {number} */ all, /** @type {number | null} */ own, /** @type {number} */ calls) => {
    const cost = (/** @type {number} */ value) => `${figure(metric.name, metric.unit, value)} (${percent(shareOf(header, value))} %)`;
    const times = Number.isNaN(calls) ? '' : `, ${calls} ${calls === 1 ? 'call' : 'calls'}`;
    return `${shown(name)}: inclusive ${cost(all)}${own === null ? '' : `, exclusive ${cost(own)}`}${times}`;
  };
  const found = make('output', { class: 'found', 'aria-live': 'polite' });
  const search = searchBox(state, go, (step) => pictures.some((picture) => picture.next(step)));
  const whole = button('Reset zoom', () => go({ place: '' }), { disabled: true });
  const bar = div(
    'bar-of-view',
    choice('Picture', state.layout, [['icicle', 'icicle: roots at the top'], ['flame', 'flame graph: roots at the bottom'], ['sandwich', 'sandwich: callers above, callees below']], (layout) => go({ layout, place: '' })),
    choice('Order', state.order, [['cost', 'by cost'], ['name', 'by name'], ['file', 'as in the file']], (order) => go({ order, place: '' })),
    whole,
    search,
    found,
  );
  /** @type {Picture[]} */
  const pictures = [];
  const mark = (/** @type {string} */ text) => {
    found.textContent = pictures.map((picture) => find(picture, text)).filter((text) => text !== '').join('; ');
    const { function: chosen } = context.state;
    marked = new Set(chosen === '' ? [] : run.named(chosen));
    list.refresh();
  };
  const list = await functionList(context, state.fn || undefined, () => context.state.function);
  const right = div('right');
  const element = make('section', { class: 'flame', 'aria-label': 'Flame graph' }, bar, div('with-list', list.element, right));
  /** Functions that were chosen. @type {Set<number>} */
  let marked = new Set();
  const select = (/** @type {number} */ of) => (of >= 0 ? go({ function: run.textOf(of) }, true) : undefined);
  const labelOf = (/** @type {number} */ of) => (of >= 0 ? run.labelOf(of) : LEFT_OUT);
  if (state.layout === 'sandwich') {
    if (state.fn === '') {
      right.append(note('A sandwich needs a function: double-click one in the list.'));
      return { element };
    }
    /** @type {(() => void)[]} */
    const shows = [];
    for (const [isUp, label] of /** @type {[boolean, string][]} */ ([[true, 'Callers'], [false, 'Callees']])) {
      const { boxes, functions } = mergedOf(run, seen, isUp);
      const arranged = arrange(boxes, state.order);
      const functionOf = (/** @type {number} */ at) => {
        const of = functions[arranged.index[at]];
        return of < run.names.name.length ? of : -1;
      };
      // Both pictures have places: those of the upper one are below -1.
      const placeOf = (/** @type {number} */ at) => (isUp ? -2 - arranged.index[at] : arranged.index[at]);
      /** @type {Picture} */
      const picture = new Picture({
        label: `${label} of ${shown(state.fn)}: ${boxes.count} boxes; the tables of callers and callees have the same figures`,
        isUp,
        isMarked: (at) => marked.has(functionOf(at)),
        levels: 12,
        handle: handleOf(context, functionOf, (at) => select(functionOf(at))),
        describe: (at) => say(labelOf(functionOf(at)), boxes.cost[arranged.index[at]], null, NaN),
        zoomed: (at) => go({ place: at < 0 || at === picture.zoom ? '' : String(placeOf(at)) }),
      });
      right.append(make('h2', { text: label }), picture.element);
      pictures.push(picture);
      shows.push(() => {
        const { place } = context.state;
        const zoom = place === '' ? -1 : arranged.index.findIndex((_, at) => placeOf(at) === Number(place));
        if (zoom !== picture.zoom || picture.boxes === null) picture.show(arranged, zoom);
      });
    }
    const update = () => {
      for (const show of shows) show();
      whole.disabled = pictures.every(({ zoom }) => zoom < 0);
      mark(context.state.search);
    };
    update();
    right.append((await callTables({ ...context, state: { ...state, function: '' } }, state.fn)).element);
    return { element, answer: () => ask(run, { ...question, report: 'calls' }), small: WITHIN, update };
  }
  const extent = extentOf(seen);
  const arrangedFrom = (/** @type {number} */ least) => {
    const { places, boxes } = placesOf(run, seen, least);
    return { ...arrange(boxes, state.order), depths: extent.depths, places };
  };
  // In another order, what cannot be seen is between what can.
  const isPart = state.order === 'cost' && extent.total > 0;
  const most = pixels();
  let arranged = arrangedFrom(isPart ? extent.total / (2 * most) : -Infinity);
  const placeOf = (/** @type {number} */ at) => arranged.places[arranged.index[at]];
  const functionOf = (/** @type {number} */ at) => {
    const of = tree.function[placeOf(at)];
    return of < run.names.name.length ? of : -1;
  };
  const isUp = state.layout === 'flame';
  const picture = new Picture({
    label: `${isUp ? 'Flame graph' : 'Icicle graph'} of ${metric.name}: ${extent.count} nodes, ${extent.depths} levels; the view Tree has the same data as a table`,
    isUp,
    isMarked: (at) => marked.has(functionOf(at)),
    handle: handleOf(context, functionOf, (at) => select(functionOf(at))),
    describe: (at) => say(labelOf(functionOf(at)), costs.all[placeOf(at)], costs.own[placeOf(at)], tree.calls[placeOf(at)]),
    zoomed: (at) => go({ place: at < 0 || at === picture.zoom ? '' : String(placeOf(at)), ...(at < 0 || functionOf(at) < 0 ? {} : { function: run.textOf(functionOf(at)) }) }),
    pixels: isPart ? most : Infinity,
    whole: (at) => {
      const place = at < 0 ? -1 : placeOf(at);
      arranged = arrangedFrom(-Infinity);
      return { boxes: arranged, at: at < 0 ? -1 : arranged.index.findIndex((one) => arranged.places[one] === place) };
    },
  });
  const update = () => {
    const { place } = context.state;
    if (place !== '') picture.complete();
    const zoom = place === '' ? -1 : arranged.index.findIndex((at) => arranged.places[at] === Number(place));
    if (zoom !== picture.zoom || picture.boxes === null) picture.show(arranged, zoom);
    whole.disabled = zoom < 0;
    mark(context.state.search);
  };
  pictures.push(picture);
  right.append(...[belowZero(extent.isBelow), picture.element].filter((part) => part !== null));
  update();
  return { element, answer: () => ask(run, question), small: WITHIN, update };
}
