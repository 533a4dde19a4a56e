// What changed between two sides: functions with their verdicts, and what is known of the one that is chosen.
import { changeBar, directionOf, signed, testColumns, verdictMark } from './change.js';
import { button, choice, div, make, note, searchBox, span } from './dom.js';
import { intervalText, probability, ratioText, SIGNS } from './judged.js';
import { figure, fixed, ofColumn, percent, rounded } from './numbers.js';
import { table } from './table.js';
import { plain, shown } from './texts.js';
import { offersOfTold } from './told.js';

/** What the view follows without being made anew. */
const FOLLOWED = ['function', 'module', 'search', 'status', 'verdict'];

/** What a side is called. @param {any} side */
function sideName({ runs }) {
  const [first] = runs;
  if (runs.length === 1) return first.run_id === null ? first.name : `run ${first.run_id} (${first.name})`;
  const names = runs.slice(0, 10).map((/** @type {any} */ run) => run.run_id ?? run.name);
  return `${runs.length} runs: ${names.join(', ')}${runs.length > 10 ? ', …' : ''}`;
}

/** What is compared, and what became of the whole. @param {any} answer */
export function sidesOf(answer) {
  const { metric, unit, total } = answer;
  const card = (/** @type {string} */ kind, /** @type {string} */ label, /** @type {string} */ name, /** @type {string} */ cost, /** @type {Element | null} */ more = null) =>
    make('div', { class: `card ${kind}` }, span('label', label), make('strong', { text: cost }), make('span', { class: 'name', text: plain(name), title: plain(name) }), more);
  const cost = (/** @type {number} */ value) => figure(metric, unit, value);
  const times = total.ratio === null ? cost(total.delta) : `×${fixed(total.ratio, 2)}`;
  return div(
    'cards',
    card('', 'Base', sideName(answer.base), cost(total.base)),
    make('span', { class: 'arrow', 'aria-hidden': 'true', text: '→' }),
    card('', 'New', sideName(answer.new), cost(total.new)),
    card(directionOf(total.verdict), 'In all', [intervalText(total), total.reason].filter((text) => text !== '').join(' '), times, total.verdict ? verdictMark(total.verdict) : null),
  );
}

/** Names and values, those without a value left out. @param {[string, string | null][]} facts */
function facts(facts) {
  return make('dl', {}, ...facts.flatMap(([name, value]) => (value === null || value === '' ? [] : [make('dt', { text: name }), make('dd', { text: plain(value) })])));
}

/** What is known of a row. @param {any} answer @param {any} row */
function detail(answer, row) {
  const { metric, unit } = answer;
  const cost = (/** @type {number | null} */ value) => (value === null ? '-' : figure(metric, unit, value));
  const side = (/** @type {string} */ name) => {
    const [low, high] = [row[`${name}_min`], row[`${name}_max`]];
    const reach = row[`runs_${name}`] > 1 && low !== null ? ` (${cost(low)} .. ${cost(high)})` : '';
    const calls = row[`calls_${name}`] === null ? '' : `, ${row[`calls_${name}`]} calls`;
    return `${cost(row[name])}${reach}, ${percent(row[`${name}_pct`])} %${calls}; in ${row[`seen_${name}`]} of ${row[`runs_${name}`]} runs`;
  };
  const parts = answer.definitions.filter((/** @type {any} */ part) => part.function === row.function && part.module === row.module && part.file === row.file);
  const list = parts.map((/** @type {any} */ part) => make('li', { text: plain(`line ${part.base_line === part.new_line ? part.base_line : `${part.base_line} -> ${part.new_line}`}: ${cost(part.base)} -> ${cost(part.new)} (${part.matched_by})`) }));
  return make(
    'div',
    {},
    make('h2', { text: shown(row.function), title: plain(row.function) }),
    make('p', { class: 'verdict-line' }, row.verdict ? verdictMark(row.verdict) : '', row.reason ? make('span', { text: plain(row.reason) }) : ''),
    facts([
      ['Base', side('base')],
      ['New', side('new')],
      ['Change', signedCost(answer, row.delta)],
      ['Ratio', ratioText(row)],
      ['p', row.p === null ? null : probability(row.p)],
      ['q', row.q === null ? null : probability(row.q)],
      ['Module', row.module],
      ['File', row.file],
      ['Matched by', row.matched_by],
    ]),
    ...(list.length > 0 ? [make('h3', { text: 'Definitions' }), make('ul', {}, ...list)] : []),
  );
}

/** A change in the unit that fits it. @param {any} answer @param {number} value */
export function signedCost({ metric, unit }, value) {
  const text = figure(metric, unit, Math.abs(value));
  return value === 0 ? text : `${value < 0 ? '−' : '+'}${text}`;
}

/** The view. @param {any} context */
export async function diffView(context) {
  const { go, told: all } = context;
  const told = all.find((/** @type {any} */ one) => one.view === 'diff');
  const answer = await told.answer();
  /** @type {any[]} */
  const rows = answer.rows;
  const scale = ofColumn(answer.metric, answer.unit, Math.max(answer.total.base, answer.total.new), 0);
  const cost = (/** @type {number} */ value) => rounded(scale, value);
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(row.delta)), 0);
  const search = searchBox(context.state, go);
  const found = make('output', { class: 'found', 'aria-live': 'polite' });
  const chips = make('div', { class: 'chips', role: 'group', 'aria-label': 'Verdicts' });
  const place = div('rows-place');
  const aside = make('aside', { class: 'detail', 'aria-label': 'The selected function' });
  const isOf = (/** @type {any} */ row, /** @type {any} */ state) => state.function === row.function && state.module === row.module;
  let filtered = '';
  const update = () => {
    const { state } = context;
    const chosen = rows.find((row) => isOf(row, state));
    aside.replaceChildren(chosen ? detail(answer, chosen) : note('Click a row to see its details.'));
    const filters = JSON.stringify([state.search, state.status, state.verdict]);
    if (filters === filtered) {
      /** @type {any} */ (place.firstElementChild)?.refresh?.();
      return;
    }
    filtered = filters;
    const words = state.search.toLowerCase();
    const isWanted = (/** @type {any} */ row) =>
      (state.status === 'all' || row.status === state.status) && (words === '' || row.function.toLowerCase().includes(words) || row.file.toLowerCase().includes(words) || row.module.toLowerCase().includes(words));
    const wanted = rows.filter(isWanted);
    const kept = wanted.filter((row) => state.verdict === '' || row.verdict === state.verdict);
    chips.replaceChildren(
      ...Object.keys(SIGNS).flatMap((verdict) => {
        const count = wanted.filter((row) => row.verdict === verdict).length;
        if (count === 0 && state.verdict !== verdict) return [];
        const chip = button('', () => go({ verdict: context.state.verdict === verdict ? '' : verdict }, true), { class: `chip ${directionOf(verdict)}`, 'aria-pressed': String(state.verdict === verdict) });
        chip.append(verdictMark(verdict), ` ${count}`);
        return [chip];
      }),
    );
    found.textContent = kept.length === rows.length ? `${rows.length} rows` : `${kept.length} of ${rows.length} rows`;
    place.replaceChildren(
      kept.length === 0
        ? note('No function matches.')
        : table({
            label: 'What changed',
            items: kept,
            isSelected: (row) => isOf(row, context.state),
            handle: { select: (row) => go({ function: row.function, module: row.module }, true) },
            columns: [
              { title: 'Function', isText: true, value: (row) => row.function, show: shown },
              { title: `Base ${scale.title}`, value: (row) => row.base, show: cost },
              { title: `New ${scale.title}`, value: (row) => row.new, show: cost },
              { title: 'Change', value: (row) => row.delta, show: (delta) => signed(scale, delta), draw: (row) => changeBar(most === 0 ? 0 : row.delta / most) },
              ...testColumns((row) => directionOf(row.verdict)),
              { title: 'Verdict', isLeft: true, value: (row) => row.verdict, show: () => '', draw: (row) => verdictMark(row.verdict) },
            ],
          }),
    );
  };
  const element = make(
    'section',
    { class: 'diff', 'aria-label': 'What changed' },
    sidesOf(answer),
    ...told.about.lines.slice(1).map((/** @type {string} */ line) => note(plain(line))),
    ...answer.warnings.map((/** @type {string} */ warning) => make('p', { class: 'warning', text: plain(warning) })),
    div(
      'bar-of-view',
      search,
      choice('Functions', context.state.status, [['all', 'all'], ['both', 'in both'], ['new', 'only in new'], ['gone', 'only in base']], (status) => go({ status }, true)),
      chips,
      found,
      span('room'),
      offersOfTold(told, () => told.statement()),
    ),
    div('beside', place, aside),
  );
  update();
  return { element, update, small: FOLLOWED };
}
