// The trees of two sides as one picture: more is orange, less is blue, and what only one of them has is hatched.
import { block } from './bytes.js';
import { directionOf, signed } from './change.js';
import { sidesOf, signedCost } from './diff.js';
import { button, choice, div, make, note, searchBox, span } from './dom.js';
import { belowZero, find } from './flame.js';
import { figure, fixed, ofColumn, percent, rounded } from './numbers.js';
import { Picture, arrange } from './picture.js';
import { LEFT_OUT } from './profile.js';
import { treeTable } from './opened.js';
import { plain, shellWord, shown } from './texts.js';
import { offersOfTold, unionOf } from './told.js';
import { jsonValue, rowsAs } from './offer.js';

/** What the view follows without being made anew. */
const WITHIN_UNION = ['place', 'search'];

/** Colours from none to all: at twice, or half, the cost they are full. Black can be read on each. */
const MORE = ['#f3e9df', '#f9d9b8', '#f7bd85', '#f2a04f', '#e8822a'];
const LESS = ['#e2ebf2', '#c3dff2', '#9acbea', '#6db4e0', '#459bd0'];
const EVEN = '#e4e3e8';

/** New less base; 0 where they are the same but for rounding, as in `crates/statistics/src/summary.rs`. @param {number} base @param {number} fresh */
function change(base, fresh) {
  const isWhole = Number.isInteger(base) && Number.isInteger(fresh);
  return !isWhole && Math.abs(fresh - base) <= 1e-13 * Math.max(Math.abs(base), Math.abs(fresh)) ? 0 : fresh - base;
}

/** What the columns of `report diff_tree` have of a place. @param {import('./told.js').Union} union @returns {Record<string, (place: number) => any>} */
function cellsOf({ item, depth, own, all, status, names }) {
  return {
    function: (place) => names.name[item[place]] ?? LEFT_OUT,
    depth: (place) => depth[place],
    base: (place) => all[0][place],
    new: (place) => all[1][place],
    delta: (place) => change(all[0][place], all[1][place]),
    base_exclusive: (place) => own[0][place],
    new_exclusive: (place) => own[1][place],
    status: (place) => status[place],
    verdict: (place) => names.verdict[item[place]] ?? null,
    module: (place) => names.module[item[place]] ?? '',
    file: (place) => names.file[item[place]] ?? '',
  };
}

/** The trees of a file as text, as the command writes them. @param {any} about @param {import('./told.js').Union} union @param {any} answer @param {import('./offer.js').Format} format */
async function textOfUnion({ titled, lines }, union, { metric, unit, total }, format) {
  const cells = cellsOf(union);
  const columns = Object.keys(cells);
  if (format === 'json') {
    const row = (/** @type {number} */ place) => `\n${jsonValue(Object.fromEntries(columns.map((column) => [column, cells[column](place)])))}`;
    const object = new TextDecoder().decode((await block('union/object')) ?? undefined);
    return `${object.slice(0, object.lastIndexOf('\n]'))}${Array.from({ length: union.count }, (_, place) => row(place)).join(',')}\n]}\n`;
  }
  const measure = { name: metric, unit, total: Math.max(total.base, total.new), selected: null };
  return rowsAs(format, { count: union.count, columns, value: (name) => cells[name] ?? null, titled: titled[format], title: 0 }, measure, lines);
}

/** The view. @param {any} context */
export async function unionView(context) {
  const { go, told, about } = context;
  const asked = told.find((/** @type {any} */ one) => one.view === 'union');
  const answer = await told.find((/** @type {any} */ one) => one.view === 'diff').answer();
  // A server compares whatever two runs are chosen.
  const which = asked ? JSON.stringify(asked.parameters) : '';
  if (context.kept.union?.which !== which) {
    const [of, get] = asked ? await asked.trees() : [about.union, undefined];
    context.kept.union = { which, of, union: await unionOf(of, get) };
  }
  /** @type {{of: any, union: import('./told.js').Union}} */
  const { of, union } = context.kept.union;
  const { metric, unit } = answer;
  const { count, item, parent, own, all, names } = union;
  const { state } = context;
  const nameOf = (/** @type {number} */ place) => names.name[item[place]] ?? LEFT_OUT;
  const verdictOf = (/** @type {number} */ place) => names.verdict[item[place]] ?? null;
  const hasVerdicts = names.verdict.some((/** @type {string | null} */ verdict) => directionOf(verdict) !== '');
  const byVerdict = (state.colour === '' ? hasVerdicts : state.colour === 'verdict') && hasVerdicts;
  // Widths add up: those of both sides are own costs of the side in which they are larger.
  const cost = new Float64Array(count);
  const side = state.width === 'base' ? 0 : 1;
  if (state.width === 'both') {
    for (let at = count - 1; at >= 0; at--) {
      cost[at] += Math.max(own[0][at], own[1][at]);
      if (parent[at] >= 0) cost[parent[at]] += cost[at];
    }
  } else cost.set(all[side]);
  const isWanted = new Uint8Array(count).fill(state.status === 'all' ? 1 : 0);
  if (state.status !== 'all') {
    for (let at = count - 1; at >= 0; at--) {
      if (union.status[at] === state.status) isWanted[at] = 1;
      if (isWanted[at] && parent[at] >= 0) isWanted[parent[at]] = 1;
    }
  }
  /** @type {number[]} */
  const places = [];
  const numbers = new Int32Array(count).fill(-1);
  for (let at = 0; at < count; at++) {
    if (!isWanted[at]) continue;
    numbers[at] = places.length;
    places.push(at);
  }
  const paint = (/** @type {number} */ place) => {
    const [base, fresh] = [all[0][place], all[1][place]];
    const direction = fresh > base ? 'more' : fresh < base ? 'less' : '';
    const size = base > 0 && fresh > 0 ? Math.min(1, Math.abs(Math.log2(fresh / base))) : direction === '' ? 0 : 1;
    if (direction === '' || size < 0.01 || (byVerdict && directionOf(verdictOf(place)) !== direction)) return EVEN;
    return (direction === 'more' ? MORE : LESS)[Math.min(4, Math.floor(size * 5))];
  };
  const arranged = arrange(
    {
      count: places.length,
      parent: Int32Array.from(places, (place) => (parent[place] < 0 ? -1 : numbers[parent[place]])),
      cost: Float64Array.from(places, (place) => cost[place]),
      name: (at) => nameOf(places[at]),
      colour: () => 0,
    },
    state.order,
  );
  const placeOf = (/** @type {number} */ at) => places[arranged.index[at]];
  const sign = (/** @type {number} */ place) => {
    const colour = paint(place);
    return colour === EVEN ? '' : MORE.includes(colour) ? '+ ' : '− ';
  };
  const say = (/** @type {number} */ place) => {
    const [base, fresh] = [all[0][place], all[1][place]];
    const money = (/** @type {number} */ value) => figure(metric, unit, value);
    const status = union.status[place];
    const times = status === 'both' && base > 0 ? `, ×${fixed(fresh / base, 2)}` : status === 'both' ? '' : `, only in ${status === 'new' ? 'new' : 'base'}`;
    const verdict = verdictOf(place);
    return `${shown(nameOf(place))}: ${money(base)} → ${money(fresh)} (${signedCost(answer, fresh - base)}${times})${verdict ? `; the function is ${verdict}` : ''}`;
  };
  const toFunction = (/** @type {number} */ place, isInstead = false) => go({ view: 'diff', function: nameOf(place), module: names.module[item[place]] ?? '', search: '', status: 'all', verdict: '', ...(isInstead && { place: '' }) }, isInstead);
  const isUp = state.layout === 'flame';
  const picture = new Picture({
    label: `${isUp ? 'Flame graph' : 'Icicle graph'} of both sides in ${plain(metric)}: ${places.length} nodes, ${arranged.depths} levels; the table below has the same data`,
    isUp,
    paint: (at) => paint(placeOf(at)),
    sign: (at) => sign(placeOf(at)),
    isHatched: (at) => union.status[placeOf(at)] !== 'both',
    describe: (at) => say(placeOf(at)),
    zoomed: (at) => go({ place: at < 0 || at === picture.zoom ? '' : String(placeOf(at)) }),
    handle: { open: (at, _, isInstead) => toFunction(placeOf(at), isInstead) },
  });
  const found = make('output', { class: 'found', 'aria-live': 'polite' });
  const search = searchBox(state, go, (step) => picture.next(step));
  const whole = button('Reset zoom', () => go({ place: '' }), { disabled: true });
  const offered = offersOfTold(
    {
      view: 'diff_tree',
      command: asked?.command ?? ['profdb', ...of.words].map(shellWord).join(' '),
      text: (format) => (asked ? asked.text(format) : textOfUnion(of, union, answer, format)),
    },
    () => of.sql,
  );
  const key = (/** @type {string} */ name, /** @type {string} */ text) => span('key', make('span', { class: `swatch ${name}` }), text);
  const left = of.left
    ? note(`The graph has the ${of.left.kept} most expensive of ${of.left.of} nodes; the others cost ${figure(metric, unit, of.left.base)} in base and ${figure(metric, unit, of.left.new)} in new and are "${LEFT_OUT}".`)
    : null;
  const element = make(
    'section',
    { class: 'flame union', 'aria-label': 'Flame graph of both' },
    sidesOf(answer),
    div(
      'bar-of-view',
      choice('Picture', state.layout, [['icicle', 'icicle: roots at the top'], ['flame', 'flame graph: roots at the bottom']], (layout) => go({ layout, place: '' })),
      choice('As wide as', state.width, [['both', 'both'], ['new', 'new'], ['base', 'base']], (width) => go({ width, place: '' })),
      ...(hasVerdicts ? [choice('Colour', byVerdict ? 'verdict' : 'change', [['verdict', 'significant changes'], ['change', 'every change']], (colour) => go({ colour }))] : []),
      choice('Places', state.status, [['all', 'all'], ['new', 'only in new'], ['gone', 'only in base']], (status) => go({ status, place: '' })),
      whole,
      search,
      found,
      span('room'),
      offered,
    ),
    make('p', { class: 'keys-of-colours' }, key('more', '+ more'), key('less', '− less'), key('even', byVerdict ? 'no significant change' : 'unchanged'), key('hatched', 'only on one side')),
    left,
    belowZero(all.some((/** @type {Float64Array} */ costs) => costs.some((cost) => cost < 0))),
    picture.element,
    unionTable(union, answer, (place) => isWanted[place] === 1),
  );
  const update = () => {
    const now = context.state;
    const zoom = now.place === '' ? -1 : arranged.index.findIndex((at) => places[at] === Number(now.place));
    if (zoom !== picture.zoom || picture.boxes === null) picture.show(arranged, zoom);
    whole.disabled = zoom < 0;
    found.textContent = find(picture, now.search);
  };
  update();
  return { element, update, small: WITHIN_UNION };
}

/** The same as a table that opens and closes. @param {import('./told.js').Union} union @param {any} answer @param {(place: number) => boolean} isWanted */
function unionTable({ depth, last, parent, all, status, item, names }, answer, isWanted) {
  const scale = ofColumn(answer.metric, answer.unit, Math.max(answer.total.base, answer.total.new), 0);
  const roots = [...parent.keys()].filter((place) => parent[place] < 0);
  const sums = all.map((costs) => roots.reduce((sum, root) => (isWanted(root) ? sum + costs[root] : sum), 0));
  const largest = (/** @type {number} */ place) => Math.max(Math.abs(all[0][place]), Math.abs(all[1][place]));
  const money = (/** @type {number} */ value) => rounded(scale, value);
  return treeTable({
    label: 'Tree of both',
    roots,
    last,
    depth,
    cost: largest,
    isLarge: (place) => largest(place) >= 0.01 * Math.max(...sums.map(Math.abs)),
    isWanted,
    columns: [
      { title: 'Element', isText: true, value: (place) => shown(names.name[item[place]] ?? LEFT_OUT) },
      { title: `Base ${scale.title}`, value: (place) => money(all[0][place]) },
      { title: `New ${scale.title}`, value: (place) => money(all[1][place]) },
      { title: 'Change', value: (place) => signed(scale, all[1][place] - all[0][place]) },
      { title: '% of new', value: (place) => percent(sums[1] === 0 ? null : (100 * all[1][place]) / sums[1]) },
      { title: 'Only in', isLeft: true, value: (place) => ({ new: 'new', gone: 'base', both: '' })[status[place]] ?? '' },
      { title: 'Verdict', isLeft: true, value: (place) => names.verdict[item[place]] ?? '' },
    ],
  });
}
