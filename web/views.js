// The other views: overview, tree, callers and callees, source.
import { actionsOf, handleOf, stepsOf } from './actions.js';
import { ask, askTree, orNull, placeLabel, shareOf, sideOf } from './ask.js';
import { div, make, note, span } from './dom.js';
import { figure, ofColumn, percent, rounded } from './numbers.js';
import { writePath } from './path.js';
import { costTable, offers } from './rows.js';
import { linesOf, sourceTable } from './source.js';
import { questionOf } from './state.js';
import { table } from './table.js';
import { treeTable } from './opened.js';
import { Unanswered, plain, shown } from './texts.js';

/** What a file knows, in words. */
const KNOWS = {
  tree: 'call paths',
  edges: 'callers and callees, but no call paths (needed to drill down, and for flame graph and tree)',
  flat: 'totals of functions only; callers are unknown',
};

/** Returns why a run cannot fill a view; '' if it can. @param {import('./profile.js').Run} run @param {string} view */
export function missingIn(run, view) {
  const { lines, source } = run.about;
  if (view === 'flame' || view === 'tree') return run.isTree ? '' : `The file has ${run.isFlat ? 'totals only' : 'callers and callees only'}, and no call paths.`;
  if (view === 'calls' && run.isFlat) return 'The file has totals only, and no callers.';
  return view === 'source' && lines === 'none' && !source ? 'The file has no lines, and the run has no stored source.' : '';
}

/** Returns whether a run has functions only: no lines, and no source. @param {import('./profile.js').Run} run */
export function isOfFunctions(run) {
  return missingIn(run, 'source') !== '';
}

/** Returns the view that a run opens on: the panes of lines if lines were counted, else the first one that its calls fill.
 * @param {import('./profile.js').Run} run */
export function firstView(run) {
  if (run.metrics.length === 0) return 'overview';
  if (run.about.lines === 'counted') return 'panes';
  return run.isTree ? 'flame' : run.isFlat ? 'panes' : 'calls';
}

/** Returns the functions, or the callers, of what a path leads to as a table beside another part of a view.
 * @param {import('./actions.js').Context & {command: any}} context @param {string | undefined} fn
 * @param {() => string} chosenOf Returns the text of the function that is marked. */
export async function functionList(context, fn, chosenOf) {
  const { run, state, go } = context;
  const report = fn !== undefined && state.report === 'calls' ? 'calls' : 'summary';
  const answer = await ask(run, questionOf(state, report, { fn, exclusive: state.exclusive !== '' }));
  const functionOf = (/** @type {number} */ row) => sideOf(answer, row).functions[row];
  const handle = handleOf(context, functionOf, (row) => functionOf(row) >= 0 && go({ function: run.textOf(functionOf(row)) }, true));
  const isSelected = (/** @type {number} */ row) => chosenOf() !== '' && run.named(chosenOf()).includes(functionOf(row));
  const title = report === 'calls' ? 'Callers' : 'Functions';
  const rows = costTable(run, answer, title, handle, isSelected, title);
  const remarks = answer.header.remarks.map(note);
  const element = make('section', { class: 'list', 'aria-label': title }, make('header', {}, make('h2', { text: title }), offers(context, report, () => answer)), ...remarks, rows);
  return { element, refresh: () => /** @type {any} */ (rows).refresh() };
}

/** Names and values, one below the other. @param {[string, string][]} facts */
function list(facts) {
  return make('dl', {}, ...facts.flatMap(([name, value]) => [make('dt', { text: plain(name) }), make('dd', { text: plain(value) })]));
}

/** What was left out of the page, in words. @param {import('./profile.js').Run} run @returns {string[]} */
export function leftOut(run) {
  const { left } = run.about;
  const said = [];
  if (left.places) {
    const metric = run.metrics[0];
    const cost = figure(metric.name, metric.unit, left.places.cost);
    const share = percent(metric.total === 0 ? null : (100 * left.places.cost) / metric.total);
    said.push(
      `The tree has the ${left.places.kept} most expensive of ${left.places.of} nodes; the others cost ${cost} (${share} %) and are "(left out)". ` +
        'Figures of the whole run are complete; figures of selections omit these nodes.',
    );
  }
  if (left.labels) said.push('Costs by label are not in this page.');
  if (left.lines) said.push(`${left.lines} lines are not in this page.`);
  if (left.metrics) said.push(`Paths are in this page for ${run.metrics[0].name} only.`);
  if (left.source) said.push('The source is not in this page.');
  if (left.sql) said.push('SQL is not in this page: the page would be too large.');
  return said;
}

/** @param {import('./actions.js').Context & {command: any}} context */
export async function overview(context) {
  const { run, state, go } = context;
  const { about } = run;
  const element = make('section', { class: 'overview', 'aria-label': 'Overview' });
  element.append(make('h2', { text: shown(about.name) }));
  for (const said of leftOut(run)) element.append(note(said));
  element.append(make('p', { text: `The file has ${/** @type {any} */ (KNOWS)[about.fidelity]}.` }));
  element.append(
    make('h3', { text: 'Measured' }),
    table({ label: 'Metrics', items: run.metrics, isFixed: true, columns: [{ title: 'Metric', isText: true, value: ({ name }) => plain(name) }, { title: 'Total', value: ({ name, unit, total }) => figure(name, unit, total) }] }),
  );
  let top = null;
  if (run.metrics.length === 0) {
    element.append(note('The run is empty: it has no functions and no costs.'));
  } else {
    for (const exclusive of [true, false]) {
      const answer = await ask(run, { report: 'summary', metric: state.metric || undefined, exclusive });
      if (!exclusive && answer.header.exclusive) break;
      top ??= answer;
      const { many: _, ...few } = sideOf(answer, 0);
      const first = { ...few, rows: few.rows.slice(0, 5) };
      const handle = handleOf(context, (row) => few.functions[row], (row) => go({ view: 'source', function: run.textOf(few.functions[row]) }), true);
      const title = exclusive ? 'Highest exclusive cost' : 'Highest inclusive cost';
      element.append(make('h3', { text: title }), costTable(run, first, title, handle, () => false, 'Function'));
    }
  }
  if (about.notes.length > 0) {
    element.append(make('h3', { text: 'Notes' }), make('ul', {}, ...about.notes.map((/** @type {any} */ note) => make('li', { class: note.severity, text: plain(note.text) }))));
  }
  element.append(make('h3', { text: 'Properties of the run' }), list([...about.tags.map((/** @type {any} */ [key, value]) => [key, value]), ...about.facts]));
  return { element, answer: () => top };
}

/** The tree as a table that opens and closes. @param {import('./actions.js').Context & {command: any}} context */
export async function treeView(context) {
  const { run, state, go } = context;
  const question = questionOf(state, 'tree');
  const seen = await askTree(run, question);
  const { tree, costs, lines, metric, header } = seen;
  const share = (/** @type {number} */ place) => shareOf(header, costs.all[place]);
  const functionOf = (/** @type {number} */ place) => (tree.function[place] < run.names.name.length ? tree.function[place] : -1);
  const scale = ofColumn(metric.name, metric.unit, header.total, header.selected ?? 0);
  const element = treeTable({
    label: 'Call tree',
    roots: seen.of.outermost,
    last: tree.last,
    depth: tree.depth,
    cost: (place) => costs.all[place],
    isLarge: (place) => Math.abs(share(place) ?? 0) >= 1,
    handle: handleOf(context, functionOf, (place) => (functionOf(place) >= 0 ? go({ function: run.textOf(functionOf(place)) }, true) : undefined)),
    columns: [
      { title: 'Element', isText: true, value: (place) => shown(placeLabel(run, tree, lines, place)) },
      ...(tree.hasCalls ? [{ title: 'Calls', value: (/** @type {number} */ place) => orNull(tree.calls[place]) }] : []),
      { title: `${scale.title} exclusive`, value: (place) => rounded(scale, orNull(costs.own[place])) },
      { title: `${scale.title} inclusive`, value: (place) => rounded(scale, orNull(costs.all[place])) },
      { title: '%', value: (place) => percent(share(place)), share },
    ],
  });
  return { element, answer: () => ask(run, question), small: ['function'], update: () => undefined };
}

/** The function that a view is about: the one that was clicked, or where the path ends, or the most expensive one of those that
 * are wanted, if there are any. @param {import('./actions.js').Context} context @param {() => Promise<Set<number>>} [wantedOf] */
async function chosen(context, wantedOf = async () => new Set()) {
  const { run, state } = context;
  if (state.function !== '') return state.function;
  const last = stepsOf(context).at(-1);
  if (last) return last.name;
  const all = await ask(run, questionOf(state, 'summary', { fn: undefined, exclusive: true }));
  const first = sideOf(all, 0);
  if (first.rows.length === 0) throw new Unanswered('The run has no functions.');
  const wanted = await wantedOf();
  // All rows are looked at where none of the first is wanted.
  const found = wanted.size === 0 ? undefined : (first.functions.find((of) => wanted.has(of)) ?? all.functions.find((of) => wanted.has(of)));
  return run.textOf(found ?? first.functions[0]);
}

/** Functions that are offered while a name is written. */
const MOST_OFFERED = 1000;

/** Where a function is chosen by its name. @param {import('./actions.js').Context} context @param {string} name */
function chooser({ run, go, say }, name) {
  const options = make('datalist', { id: 'names' });
  for (let of = 0; of < Math.min(run.names.name.length, MOST_OFFERED); of++) options.append(make('option', { value: run.labelOf(of) }));
  const input = make('input', {
    type: 'search',
    list: 'names',
    value: name,
    'aria-label': 'Function',
    onchange: () => (run.knows(input.value) ? go({ function: input.value }) : say(`The run has no function ${plain(input.value)}.`)),
  });
  return div('bar-of-view', make('label', { class: 'choice' }, make('span', { text: 'Function' }), input), options);
}

/** Returns callers and callees of a function as two tables. @param {import('./actions.js').Context & {command: any}} context @param {string} name */
export async function callTables(context, name) {
  const { run, state, go } = context;
  const known = (/** @type {string} */ of) => run.knows(of);
  const fn = state.function !== '' || state.fn === '' ? writePath([{ operator: ',', name }], known) : state.fn;
  const element = div('columns');
  let main = null;
  for (const [report, title] of [['calls', 'Called by'], ['callees', 'Calls']]) {
    /** @type {import('./ask.js').Answer} */
    let answer;
    try {
      answer = await ask(run, questionOf(state, report, { fn, exclusive: state.exclusive !== '' }));
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      // The name may be of another run: another one can be chosen.
      return { element: note(error.message), answer: null };
    }
    main ??= answer;
    const handle = handleOf(context, (row) => answer.functions[row], (row) => answer.functions[row] >= 0 && go({ function: run.textOf(answer.functions[row]) }), true);
    const { metric } = answer.header;
    const cost = answer.header.selected === null ? '' : `: ${figure(metric.name, metric.unit, answer.header.selected)} in total`;
    element.append(
      make(
        'section',
        { 'aria-label': title },
        make('header', {}, make('h2', { title: shown(name) }, span('name', labelOfText(run, name)), report === 'calls' ? ' is called by' : `${cost}, and calls`), offers(context, report, () => answer)),
        answer.rows.length === 0 ? note(report === 'calls' ? 'The function has no known callers.' : 'The function has no known callees.') : costTable(run, answer, title, handle, () => false, 'Function'),
      ),
    );
  }
  return { element, answer: main };
}

/** Returns a text that means a function as it is shown. @param {import('./profile.js').Run} run @param {string} text */
export function labelOfText(run, text) {
  const meant = run.named(text);
  return shown(meant.length === 1 ? run.labelOf(meant[0]) : text);
}

/** Functions, and callers and callees of one of them. @param {import('./actions.js').Context & {command: any}} context */
export async function callsView(context) {
  const right = div('right');
  /** @type {any} */
  let main = null;
  let name = '';
  const list = await functionList(context, undefined, () => name);
  const update = async () => {
    const { state } = context;
    const of = await chosen(context);
    const tables = await callTables(context, of);
    if (state !== context.state) return;
    name = of;
    main = tables.answer;
    right.replaceChildren(chooser(context, name), tables.element);
    list.refresh();
  };
  await update();
  const element = make('section', { class: 'calls', 'aria-label': 'Callers and callees' }, div('with-list', list.element, right));
  return { element, answer: () => main, small: ['function'], update };
}

/** @param {import('./actions.js').Context & {command: any}} context */
export async function sourceView(context) {
  const { run } = context;
  // Functions whose lines are known come before those of which there is only the source.
  const name = await chosen(context, async () => {
    const { function: known } = await run.lines();
    return new Set(known.length > 0 ? known : (await run.sources())?.places.map(([of]) => of));
  });
  const element = make('section', { class: 'source', 'aria-label': 'Source' }, chooser(context, name));
  let answer;
  try {
    answer = await linesOf(context, name);
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    // Another function may have lines.
    element.append(note(error.message));
    return { element };
  }
  element.append(make('h2', { text: shown(name) }), sourceTable(context, answer, null));
  return { element, answer: () => answer };
}

/** The crumbs of the path, and how much is looked at. @param {import('./actions.js').Context} context @param {import('./ask.js').Header | null} header @param {number} root The one root, -1 if there are several. */
export function crumbs(context, header, root) {
  const { run, state } = context;
  const actions = actionsOf(context);
  const { steps } = actions;
  const isRoot = (/** @type {import('./path.js').Step | undefined} */ step) => root >= 0 && step !== undefined && run.named(step.name).join() === String(root);
  const box = make('nav', { class: 'crumbs', 'aria-label': 'Path' });
  const crumb = (/** @type {string} */ kind, /** @type {string} */ sign, /** @type {string} */ text, /** @type {() => void} */ act) =>
    box.append(make('button', { type: 'button', class: `crumb ${kind}`, onclick: act }, make('span', { class: 'sign', role: 'img', 'aria-label': kind, text: sign }), text));
  if (root < 0) crumb('all', '', 'all', () => actions.reset());
  else if (!isRoot(steps[0])) crumb('direct', '>', shown(run.labelOf(root)), () => actions.reset());
  steps.forEach((step, at) => {
    const isCalls = state.report === 'calls' && at === steps.length - 1;
    const isDirect = at === 0 ? isRoot(step) : step.operator === '>';
    crumb(isCalls ? 'calls' : isDirect ? 'direct' : 'indirect', isCalls ? '<' : isDirect ? '>' : '*', labelOfText(run, step.name), () => (isCalls ? undefined : actions.crumb(at + 1)));
  });
  if (header) {
    const { metric, selected, total } = header;
    const part = selected ?? total;
    const share = percent(total === 0 ? null : (100 * part) / total);
    box.append(make('output', { class: 'included', text: `${share} % of ${figure(metric.name, metric.unit, total)} included` }));
  }
  return box;
}
