// The page: what its address asks for is shown.
import { actionsOf } from './actions.js';
import { json } from './bytes.js';
import { button, choice, dialog, div, make, note } from './dom.js';
import { askTotal } from './ask.js';
import { diffView } from './diff.js';
import { keepFocus } from './focus.js';
import { flameView, negativeBefore } from './flame.js';
import { historyView, stepsView } from './history.js';
import { panesView, resetSplits } from './panes.js';
import { Run } from './profile.js';
import { offers } from './rows.js';
import { askedOf, runsView } from './runs.js';
import { isServed, ServedSql } from './served.js';
import { knowViews, labelText, labelsOf, notUnderstood, questionOf, readState, writeState } from './state.js';
import { sqlView } from './sql.js';
import { Sqlite } from './sqlite.js';
import { Told } from './told.js';
import { unionView } from './union.js';
import { callsView, crumbs, firstView, isOfFunctions, leftOut, missingIn, overview, sourceView, treeView } from './views.js';
import { Unanswered, plain, shown } from './texts.js';
import { writePath } from './path.js';

/** Views by name: title, what shows them, and what of the page they are about. @type {Record<string, [string, (context: any) => Promise<any>, string]>} */
const VIEWS = {
  panes: ['Functions and lines', panesView, 'runs'],
  overview: ['Overview', overview, 'runs'],
  flame: ['Flame graph', flameView, 'runs'],
  tree: ['Tree', treeView, 'runs'],
  calls: ['Callers and callees', callsView, 'runs'],
  source: ['Source', sourceView, 'runs'],
  sql: ['SQL', sqlView, 'sql'],
  runs: ['Runs', runsView, 'database'],
  diff: ['What changed', diffView, 'diff'],
  union: ['Flame graph of both', unionView, 'union'],
  steps: ['Steps', stepsView, 'steps'],
  history: ['History', historyView, 'history'],
};

/** Where a run begins to be looked at. */
const ANY = { fn: '', label: '', metric: '', report: 'summary', function: '', 'line-of': '', line: '', place: '' };

/** Letters of a uid in an address: enough to tell runs apart. */
const UID = 12;

/** Runs that a drop-down may offer; of more, the view of the runs has a table. */
const MOST_OFFERED = 200;

const HELP = [
  ['arrows', 'select rows, slices and boxes; left and right close and open nodes of the tree'],
  ['Home, End, Page Up, Page Down', 'move in larger steps'],
  ['*', 'open the whole subtree of a node'],
  ['Enter', 'drill down; with Alt, direct calls only'],
  ['Space', 'like a click: show the source of a row or slice, zoom into a flame graph'],
  ['r', 'make root: show a function over all its callers'],
  ['c', 'show calls: the callers of a function'],
  ['Backspace', 'up one level'],
  ['0', 'reset'],
  ['e', 'exclusive or inclusive cost'],
  ['p', 'percent of the total or of the selection'],
  ['z', 'zoom into a flame graph; Escape resets the zoom'],
  ['Shift+F10', 'menu'],
  ['/', 'search; Enter goes to the next match, Shift+Enter to the previous one, Escape back to the flame graph'],
  ['b, n', 'in Runs: select the base and the new run of a comparison'],
  ['1 to 9', 'views'],
  ['?', 'this help'],
];

/** Starts the page. */
async function start() {
  const page = /** @type {HTMLElement} */ (document.getElementById('page'));
  let about;
  try {
    about = await json('about');
  } catch (error) {
    // A server's database may be gone, locked or damaged.
    page.append(make('main', { id: 'view' }, make('h1', { class: 'unseen', text: 'profdb' }), note(plain(/** @type {Error} */ (error).message))));
    page.dataset.shown = location.hash;
    return;
  }
  if (location.hash === '' && about.fn) history.replaceState(null, '', `#fn=${encodeURIComponent(about.fn)}`);
  /** @type {Run[]} */
  const runs = about.runs.map((/** @type {any} */ run) => new Run(run));
  const has = (/** @type {string} */ what) => {
    if (isServed()) return true;
    if (what === 'runs') return runs.length > 0;
    if (what === 'sql') return about.sql;
    return what === 'union' ? about.union !== null : inFile.some((/** @type {Told} */ one) => one.view === what);
  };
  const inFile = (about.told ?? []).map((/** @type {any} */ one, /** @type {number} */ at) => new Told(one, at));
  const views = Object.entries(VIEWS).filter(([, [, , what]]) => has(what));
  knowViews(views.map(([name]) => name));
  if (!isServed()) for (const run of runs) run.about.left.sql = about.sql_is_left;
  const sqlite = isServed() ? new ServedSql() : about.sql ? new Sqlite(runs) : null;
  /** What views keep while the page is open. @type {Record<string, any>} */
  const kept = {};
  const message = make('output', { class: 'message', role: 'status' });
  const top = make('header', { class: 'top' });
  const main = make('main', { id: 'view', tabindex: -1 });
  page.append(button('Skip to content', () => main.focus(), { class: 'skip' }), top, message, main);
  let shownState = readState('');
  let turn = 0;
  /** Whether a name is to be written once the view is there. */
  let searches = false;
  /** @type {any} */
  let view = null;
  /** @type {any} */
  let context = null;

  const say = (/** @type {string} */ text) => (message.textContent = text);
  /** The page without a run. @param {...Element} content */
  const only = (...content) => {
    [view, context] = [null, null];
    const title = plain(about.database ?? about.title);
    top.replaceChildren(make('h1', { class: 'title', text: title, title }));
    main.replaceChildren(...content);
    page.dataset.shown = location.hash;
  };
  const go = (/** @type {Record<string, string>} */ changes, isSmall = false) => {
    const next = { ...readState(location.hash), ...changes };
    // Databases number their runs from 1 on: the uid tells which run is meant.
    if (changes.run !== undefined || next.uid === '') next.uid = runs.find((run) => String(run.number) === next.run)?.uid.slice(0, UID) ?? '';
    const address = writeState(next);
    if (address === writeState(readState(location.hash))) return;
    if (isSmall) {
      history.replaceState(null, '', address);
      void follow();
    } else {
      location.hash = address;
    }
  };

  /** What changes within a view needs no other one. @param {import('./state.js').State} state */
  const isWithin = (state) =>
    view?.small && Object.keys(state).every((key) => state[key] === shownState[key] || view.small.includes(key) || (key === 'uid' && context.run?.uid.startsWith(state.uid)));

  const follow = async () => {
    try {
      await show();
    } catch (error) {
      // The next address is shown all the same.
      console.error(error);
      context = null;
      main.replaceChildren(note(plain(/** @type {Error} */ (error).message)));
      page.dataset.shown = location.hash;
    }
  };

  const show = async () => {
    // Another address may be asked for before this one is shown.
    const address = location.hash;
    const state = readState(address);
    say(notUnderstood(address));
    if (context && isWithin(state)) {
      shownState = state;
      context.state = { ...state, view: context.state.view };
      // A view that is still being made is of an address before this one.
      const mine = ++turn;
      const giveFocusBack = keepFocus(page);
      await view.update();
      giveFocusBack();
      if (mine === turn) page.dataset.shown = address;
      return;
    }
    const mine = ++turn;
    const asked = runs.filter(({ number, uid }) => (state.uid === '' ? String(number) === state.run : uid.startsWith(state.uid)));
    const isAny = state.run === '' && state.uid === '';
    // A database with several runs opens on their list, unless it was served for one of them.
    const isList = isServed() && runs.length > 1 && about.first === null && isAny && state.fn === '' && state.view === '';
    const run = /** @type {Run} */ (isList ? undefined : isAny ? runs[0] : (asked.find(({ number }) => String(number) === state.run) ?? asked[0]));
    if (!run && runs.length === 0 && inFile.length === 0) {
      only(note('The database has no runs. `profdb import` adds runs; reload the page to see them.'));
      return;
    }
    const viewOf = VIEWS[state.view]?.[2] ?? 'runs';
    if (!run && !isList && runs.length > 0 && ['runs', 'sql'].includes(viewOf)) {
      const said = `There is no run ${plain(state.run)}${state.uid === '' ? '' : ` (${plain(state.uid)})`} ${isServed() ? 'in this database' : 'in this page'}: it was deleted, or the address belongs to other data.`;
      only(note(said), div('buttons', ...(isServed() ? [button('Runs', () => go({ run: '', view: 'runs' }))] : []), button(`Show run ${runs[0].number}`, () => go({ ...ANY, run: String(runs[0].number) }))));
      return;
    }
    try {
      await run?.open();
    } catch (error) {
      if (mine === turn) only(note(plain(/** @type {Error} */ (error).message)));
      return;
    }
    const told = isServed() ? askedOf(state, about) : inFile;
    const first = isList ? 'runs' : run ? firstView(run) : views[0][0];
    const now = { state: { ...state, view: state.view || first }, run, go, say, command: about.command, about, told, kept, sqlite, questions: about.questions ?? [] };
    const found = VIEWS[now.state.view];
    let made;
    let header = null;
    try {
      made = await found[1](now);
    } catch (error) {
      if (!(error instanceof Unanswered)) console.error(error);
      made = { element: note(/** @type {Error} */ (error).message) };
    }
    let root = -1;
    try {
      if (run?.metrics.length > 0) {
        header = await askTotal(run, questionOf(state, 'summary'));
        root = await rootOf(run);
      }
    } catch {
      // The view says why there is nothing.
    }
    if (mine !== turn) return;
    [view, context, shownState] = [made, now, state];
    const giveFocusBack = keepFocus(page);
    head(now, header, root);
    main.replaceChildren(made.element);
    if (searches) document.getElementById('search')?.focus({ preventScroll: true });
    else giveFocusBack();
    searches = false;
    const isOfRun = run && found[2] === 'runs';
    document.title = `${plain(isOfRun ? run.about.name : isServed() ? about.database : (about.title ?? ''))} · profdb`;
    page.dataset.shown = address;
    // Who drills down does not wait for what can be unpacked before.
    if (header && run.isTree && !isServed()) /** @type {any} */ (globalThis).requestIdleCallback?.(() => void unpack(run, run.metrics.indexOf(header.metric)));
  };

  const head = (/** @type {any} */ now, /** @type {any} */ header, /** @type {number} */ root) => {
    const { state, run } = now;
    const entries = views.map(([name, [title, , what]]) => {
      const missing = run && what === 'runs' ? missingIn(run, name) : '';
      return button(name === 'panes' && run && isOfFunctions(run) ? 'Functions' : title, () => (missing === '' ? go({ view: name }) : say(missing)), {
        'aria-current': state.view === name ? 'page' : null,
        'aria-disabled': missing === '' ? null : 'true',
        title: missing === '' ? null : missing,
      });
    });
    const tools = div('tools');
    const nav = make('nav', { class: 'views', 'aria-label': 'Views' }, ...entries);
    const helps = button('?', help, { class: 'helps', title: 'Keys and help', 'aria-label': 'Help' });
    if (!run || VIEWS[state.view][2] !== 'runs') {
      const title = plain(isServed() ? about.database : about.title);
      top.replaceChildren(nav, make('h1', { class: 'title', text: title, title }), helps);
      return;
    }
    const isOffered = runs.length > 1 && runs.length <= MOST_OFFERED;
    const name = plain(run.about.name);
    const title = make('h1', { class: isOffered ? 'unseen' : 'title', text: name, title: name });
    if (isOffered) {
      tools.append(choice('Run', String(run.number), runs.map((run) => [String(run.number), `${run.number}: ${plain(run.about.name)}`]), (to) => go({ ...ANY, run: to })));
    }
    if (run.metrics.length > 1) {
      tools.append(choice('Metric', state.metric || run.about.default_metric, run.metrics.map((/** @type {any} */ metric) => [metric.name, plain(metric.name)]), (to) => go({ metric: to === run.about.default_metric ? '' : to, place: '' })));
    }
    const threads = threadsOf(run);
    if (threads.length > 1) {
      // A thread is the first step of a path: `--fn` finds what happened within it.
      const known = (/** @type {string} */ name) => run.knows(name);
      const { steps } = actionsOf(now);
      const isChosen = steps.length > 0 && threads.includes(steps[0].name);
      const rest = isChosen ? steps.slice(1) : steps;
      const within = (/** @type {string} */ thread) => (thread === '' ? rest : [{ operator: /** @type {',' | '>'} */ (','), name: thread }, ...rest.map((step, at) => (at === 0 ? { ...step, operator: /** @type {',' | '>'} */ (',') } : step))]);
      tools.append(choice('Thread', isChosen ? steps[0].name : '', [['', 'all'], ...threads.map((name) => /** @type {[string, string]} */ ([name, shown(name)]))], (to) => go({ fn: within(to).length === 0 ? '' : writePath(within(to), known), report: 'summary', place: '' })));
    }
    const [labels, offered] = [labelsOf(state), labelsToChoose(run)];
    if (labels.length > 0 || offered.length > 0) {
      const rest = offered.filter((label) => !labels.includes(label));
      const first = labels.length === 0 ? 'all' : `${labels.length} chosen`;
      tools.append(
        choice('Label', '', [['', first], ...rest.map((label) => /** @type {[string, string]} */ ([label, shown(label)]))], (to) => go({ label: labelText([...labels, to]), place: '' })),
        ...labels.map((label) => button(`${shown(label)} ×`, () => go({ label: labelText(labels.filter((other) => other !== label)), place: '' }), { class: 'chip', title: 'Remove this label filter' })),
      );
    }
    tools.append(
      choice('Percent of', state['percent-of'], [['total', 'all'], ['selection', 'selection']], (to) => go({ 'percent-of': to })),
      choice('Tables show', state.exclusive === '' ? 'no' : 'yes', [['no', 'inclusive cost'], ['yes', 'exclusive cost']], (to) => go({ exclusive: to === 'yes' ? 'yes' : '' })),
    );
    if (state.view === 'panes' && run.about.lines === 'none') {
      // One pane needs no windows.
    } else if (state.view === 'panes') {
      const presets = /** @type {[string, string][]} */ ([['', 'All'], ['functions', 'Functions'], ['function-details', 'Function Details'], ['lines', 'Lines'], ['line-details', 'Line Details']]);
      const reset = () => {
        resetSplits();
        go({ window: '' });
      };
      tools.append(choice('Windows', state.window, presets, (to) => go({ window: to })), button('Reset Windows', reset));
    } else if (view?.answer && state.view !== 'calls') {
      tools.append(offers(now, state.view === 'tree' || state.view === 'flame' ? 'tree' : state.view === 'source' ? 'function' : 'summary', view.answer));
    }
    const actions = actionsOf(now);
    const path = div(
      'path',
      crumbs(now, header, root),
      button('Up 1 Level', () => actions.up(), { disabled: state.fn === '' }),
      button('Reset', () => actions.reset(), { disabled: state.fn === '' }),
      button('Show Calls', () => actions.showCalls(), { disabled: actions.steps.length === 0 || run.isFlat || state.report === 'calls' }),
    );
    const missing = leftOut(run).length > 0 ? note('Parts of the run are not in this page; Overview lists them.') : '';
    top.replaceChildren(nav, title, helps, tools, path, missing);
  };

  const help = () =>
    dialog(
      'Keys',
      make('dl', { class: 'keys' }, ...HELP.flatMap(([key, does]) => [make('dt', { text: key }), make('dd', { text: does })])),
      make('p', { text: `Click a function to see it line by line, double-click to drill down (Alt: direct calls only), right-click for more. ${isServed() ? `Served by profdb ${about.version}; nothing leaves this machine.` : `Written by profdb ${about.version}; nothing leaves this file.`}` }),
    );

  addEventListener('hashchange', () => void follow());
  addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const isWriting = target.matches('input:not([type=checkbox]), textarea, select');
    if (document.querySelector('dialog[open]')) return;
    if (isWriting && event.key === 'Escape') {
      target.blur();
      // Who has searched goes on from what was found.
      if (target.id === 'search') /** @type {HTMLElement | null} */ (main.querySelector('canvas') ?? main.querySelector('tr[tabindex="0"]'))?.focus({ preventScroll: true });
    }
    if (isWriting || event.ctrlKey || event.metaKey || event.altKey || !context) return;
    const { state } = context;
    const isOfRun = VIEWS[state.view][2] === 'runs';
    if (!isOfRun && ['Backspace', '0', 'e', 'p'].includes(event.key)) return;
    if (event.key === 'Backspace') actionsOf(context).up();
    else if (event.key === '0') actionsOf(context).reset();
    else if (event.key === 'e') go({ exclusive: state.exclusive === '' ? 'yes' : '' });
    else if (event.key === 'p') go({ 'percent-of': state['percent-of'] === 'total' ? 'selection' : 'total' });
    else if (event.key === '?') help();
    else if (event.key === '/') {
      const search = document.getElementById('search');
      if (search) search.focus();
      else if (isOfRun && state.view !== 'flame') {
        searches = true;
        go({ view: 'flame' });
      }
    } else if (/^[1-9]$/.test(event.key) && Number(event.key) <= views.length) top.querySelectorAll('.views button')[Number(event.key) - 1].click();
    else return;
    event.preventDefault();
  });
  addEventListener('beforeprint', () => {
    for (const box of document.querySelectorAll('.table')) box.dispatchEvent(new Event('page-prints'));
  });
  await follow();
}

/** Unpacks what a drill-down needs. @param {Run} run @param {number} metric */
async function unpack(run, metric) {
  try {
    const costs = await run.costs(metric);
    const tree = await run.tree();
    tree.sorted();
    tree.extents();
    negativeBefore(tree, costs);
  } catch {
    // Who asks for it is told.
  }
}

/** Threads and processes that a path can begin with, unless there are too many to choose from. @param {Run} run @returns {string[]} */
function threadsOf(run) {
  if (!run.isTree) return [];
  if (run.threads) return run.threads;
  const { kind, name, module } = run.names;
  const isOne = (/** @type {number} */ at) => kind[at] === 'thread' || kind[at] === 'process';
  const names = name.map((name, at) => (run.byName.get(`${module[at]}/${name}`)?.includes(at) ? `${module[at]}/${name}` : name));
  const all = new Set(names.filter((name, at) => isOne(at) && name !== '' && run.byName.get(name)?.every(isOne)));
  return (run.threads = all.size > 200 ? [] : [...all].sort());
}

/** Labels that samples can be asked to have: any value of a key, or one. @param {Run} run @returns {string[]} */
function labelsToChoose({ about: { labels = [], left } }) {
  /** @type {Map<string, string[]>} */
  const values = new Map();
  for (const [key, value] of left.labels ? [] : labels) values.set(key, [...(values.get(key) ?? []), `${key}=${value}`]);
  return [...values].flatMap(([key, all]) => [key, ...all]).slice(0, 200);
}

/** The one function in which everything happened, -1 if there is none. @param {Run} run @returns {Promise<number>} */
async function rootOf(run) {
  if (!run.isTree) return -1;
  const tree = await run.tree();
  const isOne = tree.count > 0 && tree.last[0] === tree.count - 1 && run.isCode(tree.function[0]);
  return isOne ? tree.function[0] : -1;
}

void start();
