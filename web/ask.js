// The page's only door to data: a report and its parameters in, columns and rows out, as the command of the same words gives
// them as JSON. Statements say the same in SQL (`statement.js`); tests compare both with the command.
import { LEFT_OUT, Run } from './profile.js';
import { parsePath } from './path.js';
import { answered, isServed, servedStatement, showKnown } from './served.js';
import { addUp, calleesOf, callersOf, follow } from './selection.js';
import { mostOf } from './sums.js';
import { Unanswered, inOrder, lineName, plain, shown } from './texts.js';
import { statement } from './statement.js';

/** @typedef {{report: string, fn?: string, metric?: string, exclusive?: boolean, percentOf?: string, label?: string[]}} Question */
/** @typedef {{question: Question, metric: import('./profile.js').Metric, total: number, selected: number | null, exclusive: boolean, remarks: string[], isExclusiveLeft: boolean, callers?: number | null, shape: string, steps: import('./statement.js').NamedStep[]}} Header */
/** @typedef {{columns: string[], rows: any[][], header: Header, functions: number[], elements: string[], many?: Many}} Answer Functions and elements are those of the rows: -1 for none, and what a row is called. */
/** @typedef {{count: number, first: Answer, own: Float64Array, hasCalls: boolean}} Many What is known of many rows before they are made: how many they are, the first of them, all own costs in any order, and whether calls are known. */

/** Rows that are made at once: of many, few are looked at. */
const FIRST = 200;

const COLUMNS = {
  summary: 'function seen calls cum_pct avg module file first_line kind exclusive exclusive_pct cumulative cumulative_pct function_id',
  lines: 'function line col calls cum_pct avg code module file first_line exclusive exclusive_pct cumulative cumulative_pct function_id',
  calls: 'calls cum_pct avg caller caller_module caller_file caller_first_line kind exclusive cumulative cumulative_pct function_id',
  call_lines: 'caller_line caller_col calls cum_pct avg code caller caller_module caller_file file caller_first_line line_file kind exclusive cumulative cumulative_pct function_id',
  callees: 'calls cum_pct avg callee callee_module callee_file callee_first_line kind exclusive cumulative cumulative_pct function_id',
  function: 'function line col calls exclusive cumulative cumulative_pct callees code module file first_line exclusive_pct function_id',
  tree: 'depth function line col calls exclusive cumulative exclusive_ticks cumulative_ticks code module file first_line node_id parent_id function_id',
};

const ABOUT_FUNCTIONS = ['calls', 'call_lines', 'callees', 'function'];

/** What a question is about. @param {Run} run @param {Question} question */
async function understand(run, question) {
  await run.open();
  const at = run.metric(question.metric);
  const metric = run.metrics[at];
  const path = question.fn === undefined ? [] : parsePath(question.fn, (name) => run.knows(name));
  const steps = path.map(({ operator, name }) => {
    const functions = run.named(name);
    if (functions.length === 0) throw new Unanswered(`Run ${run.number} has no function ${shown(name)}.`);
    const isListed = functions.some((of) => run.names.name[of] !== name);
    const listed = isListed ? functions.map((of) => run.names.id[of]).sort((one, other) => one - other) : null;
    return { operator, name, functions, isCode: run.isCode(functions[0]), listed };
  });
  const isAbout = ABOUT_FUNCTIONS.includes(question.report);
  const isOne = steps.length === 1 && steps[0].functions.length === 1;
  const isLabelled = (question.label ?? []).length > 0;
  let shape = 'nodes';
  if (steps.length === 0) shape = 'run';
  else if (isOne && !isLabelled && (isAbout || !run.isTree)) shape = 'functions';
  if (shape === 'run' && isAbout) throw new Unanswered(`Report ${question.report} needs a function; choose one.`);
  if (['calls', 'call_lines', 'callees'].includes(question.report) && run.isFlat) {
    throw new Unanswered(`The file of run ${run.number} has totals only; callers are unknown.`);
  }
  if (!run.isTree && steps.length === 1 && shape === 'nodes') {
    const { name, functions } = steps[0];
    throw new Unanswered(`${functions.length} functions are called ${shown(name)}. Choose one: ${functions.slice(0, 10).map((of) => plain(run.textOf(of))).join(', ')}${functions.length > 10 ? ', …' : ''}`);
  }
  if (!run.isTree && (shape === 'nodes' || isLabelled || question.report === 'tree')) {
    throw new Unanswered(
      `The file of run ${run.number} has ${run.isFlat ? 'totals only' : 'callers and callees, but no call paths'}: there is no ${
        question.report === 'tree' ? 'call tree' : 'way to select the calls below a call'
      }.`,
    );
  }
  return { at, metric, steps, shape };
}

/** What a question looks at.
 * @param {Run} run @param {Question} question */
async function look(run, question) {
  const understood = await understand(run, question);
  const { at, steps, shape } = understood;
  const lines = await run.lines();
  const seen = { ...understood, lines };
  const labels = question.label ?? [];
  if (labels.length > 0 && run.about.left.labels) throw new Unanswered('Labels are not in this page: the page would be too large.');
  if (!run.isTree || (shape !== 'nodes' && question.report !== 'tree' && labels.length === 0)) {
    let selected = null;
    if (shape === 'functions') selected = orNull((await run.functions(at)).get(steps[0].functions[0])?.cumulative);
    return { ...seen, selected, paths: null };
  }
  const { tree, costs } = labels.length > 0 ? await run.labelled(at, labels) : { tree: await run.tree(), costs: await run.costs(at) };
  const sumOf = (/** @type {number[]} */ places) => places.reduce((sum, place) => sum + costs.all[place], 0);
  if (shape !== 'nodes') {
    const places = [];
    for (let place = 0; place < tree.count; place = tree.last[place] + 1) places.push(place);
    const of = shape === 'functions' ? follow(tree, steps) : { places, outermost: places };
    return { ...seen, selected: labels.length > 0 ? sumOf(places) : null, paths: { tree, costs, of } };
  }
  // Each part of a view looks at the same path.
  const key = JSON.stringify([question.fn, at, labels]);
  if (run.followed?.key !== key) run.followed = { key, of: follow(tree, steps) };
  const { of } = run.followed;
  if (of.places.length === 0) throw new Unanswered(`No call in run ${run.number} follows the path ${plain(question.fn ?? '')}.`);
  return { ...seen, selected: sumOf(of.outermost), paths: { tree, costs, of } };
}

/** What shares are of. @param {{question: Question, selected: number | null, total: number}} header */
export function baseOf({ question, selected, total }) {
  return question.percentOf === 'selection' && selected !== null ? selected : total;
}

/** The share of a cost, in percent. @param {{question: Question, selected: number | null, total: number}} header @param {number | null} cost */
export function shareOf(header, cost) {
  const base = baseOf(header);
  return base === 0 || cost === null || Number.isNaN(cost) ? null : (100 * cost) / base;
}

/** A cost as a key by which the highest comes first, and what is unknown last. @param {number} cost */
const down = (cost) => (Number.isNaN(cost) ? Infinity : -cost);

/** @param {number | undefined} value @returns {number | null} */
export function orNull(value) {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** What a question is about, without its rows. @param {Run} run @param {Question} question @returns {Promise<{header: Header, seen: any}>} */
async function begin(run, question) {
  const seen = isServed() ? { ...(await understand(run, question)), selected: null } : await look(run, question);
  const { metric, shape } = seen;
  const steps = seen.steps.map(({ operator, name, isCode, listed }) => ({ operator, name, isCode, listed }));
  // Own costs are what callees leave of places then, though the file itself states those of functions.
  const isExclusiveLeft = Boolean(run.isTree && metric.recorded && (shape === 'nodes' || question.report === 'tree' || (question.label ?? []).length > 0));
  return { seen, header: { question, metric, total: metric.total, selected: seen.selected, exclusive: question.exclusive ?? false, remarks: [], isExclusiveLeft, shape, steps } };
}

/** How much is looked at. @param {Run} run @param {Question} question */
export async function askTotal(run, question) {
  return isServed() ? (await ask(run, question)).header : (await begin(run, question)).header;
}

/** Asks a report about a run. @param {Run} run @param {Question} question @returns {Promise<Answer>} */
export async function ask(run, question) {
  const { seen, header } = await begin(run, question);
  if (isServed()) return answered(run, header, /** @type {any} */ (COLUMNS)[question.report].split(' '));
  if (question.report === 'function') return ofFunction(run, seen, header);
  if (question.report === 'tree') return ofTree(run, seen, header);
  if (question.report === 'summary' || question.report === 'lines') return totalsOf(run, seen, header);
  const entries = await entriesOf(run, seen, question.report);
  showKnown(header, entries, (entry) => orNull(entry.cumulative));
  if (!run.isTree && (question.report === 'calls' || question.report === 'call_lines')) sumCallers(header, entries);
  return ranked(entries, header);
}

/** @typedef {{name: string, module: string | null, file: string | null, kind: string | null, id: number, of: number, first: number | null, line: number | null, col: number, calls: number, exclusive: number, cumulative: number, seen: number, element?: string, line_file?: string, caller_file?: string | null}} Entry */

/** Tells what callers paid, where that is not what the function cost: a file of edges states both. @param {Header} header @param {Entry[]} entries */
function sumCallers(header, entries) {
  if (entries.length === 0) return;
  const sum = orNull(entries.reduce((sum, entry) => sum + entry.cumulative, 0));
  const { selected } = header;
  const isSame = sum !== null && selected !== null && Math.abs(sum - selected) <= 1e-9 * Math.abs(selected);
  if (!isSame) header.callers = sum;
}

/** How many rows an answer has, without making them. @param {Answer} answer */
export function countOf(answer) {
  return answer.many ? answer.many.count : answer.rows.length;
}

/** Returns what a row is shown as: the name of its function is followed by a place where several have it. @param {Run} run @param {Answer} answer @param {number} row */
export function labelOfRow(run, answer, row) {
  const { functions, elements } = sideOf(answer, row);
  const of = functions[row];
  return of < 0 ? elements[row] : run.labelOf(of) + elements[row].slice(run.names.name[of].length);
}

/** An answer that has a row, without making those that are not asked for. @param {Answer} answer @param {number} row @returns {Answer} */
export function sideOf(answer, row) {
  return answer.many && row < answer.many.first.rows.length ? answer.many.first : answer;
}

/** Functions, or lines, with what they cost in all that is looked at. @param {Run} run @param {any} seen @param {Header} header @returns {Promise<Answer>} */
async function totalsOf(run, seen, header) {
  const { at, steps, shape, lines, paths } = seen;
  const { names } = run;
  const only = shape === 'functions' ? steps[0].functions[0] : -1;
  const isLines = header.question.report === 'lines';
  let sums;
  if (paths) sums = addUp(paths.tree, paths.costs, paths.of.outermost, isLines ? 'lines' : 'functions', isLines ? lines.count : names.name.length + 1);
  else sums = await (isLines ? run.lineFigures(at) : run.functions(at));
  const { calls, exclusive, cumulative, seen: all } = sums;
  const functionOf = (/** @type {number} */ key) => (isLines ? lines.function[key] : key);
  const keys = sums.keys.filter((key) => (isLines || (key < names.name.length && run.isCode(key))) && (only < 0 || functionOf(key) === only));
  showKnown(header, keys, (key) => orNull(cumulative[key]));
  const entryOf = (/** @type {number} */ key) => {
    const of = functionOf(key);
    const [name, own] = [names.name[of], names.file[of]];
    const entry = { name, module: names.module[of], file: own, id: names.id[of], of, first: names.line[of] || null, kind: isLines ? null : names.kind[of], line: null, col: 0, calls: calls[key], exclusive: exclusive[key], cumulative: cumulative[key], seen: all[key] };
    if (!isLines) return entry;
    const [file, line, col] = [lines.file[key] || own, lines.line[key], lines.col[key]];
    return { ...entry, file, line, col, element: lineName(name, file === own ? '' : file, line, col) };
  };
  const costs = header.exclusive ? exclusive : cumulative;
  const few = mostOf(keys, (key) => costs[key], FIRST);
  const first = ranked(few.map(entryOf), header);
  if (few.length === keys.length) return first;
  /** @type {Answer | null} */
  let whole = null;
  const made = () => (whole ??= ranked(keys.map(entryOf), header));
  return {
    columns: first.columns,
    header,
    many: { count: keys.length, first, own: Float64Array.from(keys, (key) => exclusive[key]), hasCalls: keys.some((key) => !Number.isNaN(calls[key])) },
    get rows() {
      return made().rows;
    },
    get functions() {
      return made().functions;
    },
    get elements() {
      return made().elements;
    },
  };
}

/** Calls that a report shows, in no order. @param {Run} run @param {any} seen @param {string} report @returns {Promise<Entry[]>} */
async function entriesOf(run, seen, report) {
  const { names } = run;
  const functionOf = (/** @type {number} */ of) => ({ name: names.name[of], module: names.module[of], file: names.file[of], id: names.id[of], of, first: names.line[of] || null });
  const unknown = { seen: NaN, line: null, col: 0 };
  const isCallees = report === 'callees';
  const byLine = report === 'call_lines';
  /** @type {Map<string, Entry>} */
  const grouped = new Map();
  for (const call of await callsOf(run, seen, isCallees)) {
    const of = call.function;
    const [from, line, col] = byLine && call.line >= 0 ? [call.file, call.line, call.col] : ['', null, 0];
    const key = `${of} ${line} ${col} ${call.kind} ${from}`;
    let entry = grouped.get(key);
    if (!entry) {
      const about = of < 0 ? { name: '(root)', module: null, file: null, id: 0, of, first: null } : of < names.name.length ? functionOf(of) : { name: LEFT_OUT, module: '', file: '', id: 0, of: -1, first: null };
      const isElsewhere = from !== '' && from !== about.file;
      const element = line === null ? about.name : lineName(about.name, isElsewhere ? from : '', line, col);
      entry = { ...unknown, ...about, ...(isElsewhere && { line_file: from, file: from, caller_file: about.file }), kind: call.kind, line, col, calls: 0, exclusive: 0, cumulative: 0, element };
      grouped.set(key, entry);
    }
    entry.calls += call.calls;
    entry.exclusive += call.exclusive;
    entry.cumulative += call.cumulative;
  }
  return [...grouped.values()].filter((entry) => entry.name !== LEFT_OUT);
}

/** Calls to what is selected, or from it, as far as they are known.
 * @param {Run} run @param {any} seen @param {boolean} isCallees */
async function callsOf(run, seen, isCallees) {
  const { at, steps, shape, lines, paths } = seen;
  if (shape === 'functions') {
    const of = steps[0].functions[0];
    const edges = (await run.edges(at)).filter((edge) => (isCallees ? edge.caller : edge.callee) === of);
    return edges.map((edge) => ({
      ...edge,
      function: isCallees ? edge.callee : edge.caller,
      cumulative: isCallees ? edge.cumulative : edge.outermost,
      kind: edge.isBack ? 'back' : 'call',
    }));
  }
  const calls = isCallees
    ? calleesOf(paths.tree, paths.costs, paths.of, lines, run.names.name.length)
    : callersOf(paths.tree, paths.costs, paths.of, lines, (of) => run.isCode(of));
  return calls.map((call) => ({ ...call, kind: 'call' }));
}

const NAME = (/** @type {Entry} */ entry) => entry.name;
const MODULE = (/** @type {Entry} */ entry) => entry.module;
const FILE = (/** @type {Entry} */ entry) => entry.file;
const LINE = (/** @type {Entry} */ entry) => entry.line;
const COL = (/** @type {Entry} */ entry) => entry.col || null;
const FIRST_LINE = (/** @type {Entry} */ entry) => entry.first;

/** What a column has of an entry, where that does not depend on others. @type {Record<string, (entry: Entry) => any>} */
const CELLS = {
  function: NAME,
  callee: NAME,
  caller: (entry) => (entry.of < 0 ? null : entry.name),
  module: MODULE,
  caller_module: MODULE,
  callee_module: MODULE,
  file: FILE,
  callee_file: FILE,
  caller_file: (entry) => entry.caller_file ?? entry.file,
  first_line: FIRST_LINE,
  caller_first_line: FIRST_LINE,
  callee_first_line: FIRST_LINE,
  line_file: (entry) => entry.line_file ?? null,
  line: LINE,
  caller_line: LINE,
  col: COL,
  caller_col: COL,
  kind: (entry) => entry.kind,
  function_id: (entry) => (entry.of < 0 ? null : entry.id),
  code: () => null,
  calls: (entry) => orNull(entry.calls),
  exclusive: (entry) => orNull(entry.exclusive),
  cumulative: (entry) => orNull(entry.cumulative),
  seen: (entry) => orNull(entry.seen),
};

/** What tells entries of one cost apart. @type {((entry: Entry) => any)[]} */
const IN_ORDER = [NAME, LINE, (entry) => entry.col, MODULE, FILE, (entry) => entry.id, (entry) => entry.kind];

/** Entries in the order of the report, with their shares. @param {Entry[]} entries @param {Header} header @returns {Answer} */
function ranked(entries, header) {
  const { report } = header.question;
  const costOf = (/** @type {Entry} */ entry) => (header.exclusive ? entry.exclusive : entry.cumulative);
  entries = inOrder(entries, (entry) => down(costOf(entry)), IN_ORDER);
  const columns = /** @type {any} */ (COLUMNS)[report].split(' ');
  /** @type {number | null} */
  let running = null;
  /** @type {Record<string, (entry: Entry) => any>} */
  const cells = {
    ...CELLS,
    exclusive_pct: (entry) => shareOf(header, entry.exclusive),
    cumulative_pct: (entry) => shareOf(header, entry.cumulative),
    cum_pct: () => running,
    avg: (entry) => (entry.calls > 0 ? orNull(costOf(entry) / entry.calls) : null),
  };
  const made = columns.map((/** @type {string} */ column) => cells[column]);
  const rows = entries.map((entry) => {
    const part = shareOf(header, costOf(entry));
    if (part !== null) running = (running ?? 0) + part;
    return made.map((/** @type {(entry: Entry) => any} */ cell) => cell(entry));
  });
  return { columns, rows, header, functions: entries.map((entry) => entry.of), elements: entries.map((entry) => entry.element ?? entry.name) };
}

/** The functions of a path one line after the other. @param {Run} run @param {any} seen @param {Header} header @returns {Promise<Answer>} */
async function ofFunction(run, seen, header) {
  const { at, steps, shape, lines, paths } = seen;
  const { names } = run;
  const functions = new Set(steps.at(-1).functions);
  const figures =
    shape === 'functions'
      ? await run.lineFigures(at)
      : addUp(paths.tree, paths.costs, paths.of.outermost, 'lines', lines.count);
  const calls = (await callsOfLines(run, seen)).filter((call) => functions.has(call.caller));
  /** @type {{of: number, file: string, line: number, col: number, calls: number, exclusive: number, cumulative: number}[]} */
  const found = [];
  for (const line of figures.keys) {
    const of = lines.function[line];
    if (!functions.has(of)) continue;
    const file = lines.file[line] === '' ? names.file[of] : lines.file[line];
    found.push({ of, file, line: lines.line[line], col: lines.col[line], calls: figures.calls[line], exclusive: figures.exclusive[line], cumulative: figures.cumulative[line] });
  }
  const isCalled = (/** @type {any} */ row, /** @type {any} */ call) => row.of === call.caller && row.file === call.file && row.line === call.line && (row.col === 0 || row.col === call.col);
  const only = new Map();
  for (const call of calls) {
    if (!found.some((row) => isCalled(row, call))) {
      only.set(`${call.caller} ${call.line} ${call.col} ${call.file}`, { of: call.caller, file: call.file, line: call.line, col: call.col, calls: NaN, exclusive: NaN, cumulative: NaN });
    }
  }
  found.push(...only.values());
  const texts = await sourceOf(run, found, functions);
  for (const [key, { of, file, line }] of texts.own) {
    if (!found.some((row) => `${row.of} ${row.file} ${row.line}` === key)) found.push({ of, file, line, col: 0, calls: NaN, exclusive: NaN, cumulative: NaN });
  }
  if (found.length === 0) throw new Unanswered(`Run ${run.number} has no lines of ${plain(header.question.fn ?? '')}, and no stored source.`);
  const sorted = inOrder(found, ({ of }) => names.name[of], [({ of }) => names.module[of], ({ of }) => names.id[of], ({ file }) => file, ({ line }) => line, ({ col }) => col]);
  const rows = sorted.map((row) => {
    const all = calls.filter((call) => isCalled(row, call));
    const called = inOrder(all, (call) => down(call.cumulative), [(call) => names.name[call.function], (call) => names.id[call.function]]);
    return [
      names.name[row.of],
      row.line,
      row.col === 0 ? null : row.col,
      orNull(row.calls),
      orNull(row.exclusive),
      orNull(row.cumulative),
      shareOf(header, row.cumulative),
      called.length === 0 ? null : called.map((call) => names.name[call.function]).join(', '),
      texts.all.get(`${row.of} ${row.file} ${row.line}`) ?? null,
      names.module[row.of],
      row.file,
      names.line[row.of] || null,
      shareOf(header, row.exclusive),
      names.id[row.of],
    ];
  });
  const elements = sorted.map(({ of, file, line, col }) => lineName(names.name[of], file === names.file[of] ? '' : file, line, col));
  return { columns: COLUMNS.function.split(' '), rows, header, functions: sorted.map((row) => row.of), elements };
}

/** Calls from lines: each line and callee once. @param {Run} run @param {any} seen */
async function callsOfLines(run, seen) {
  const { at, steps, shape, lines, paths } = seen;
  const of = steps[0].functions[0];
  const calls =
    shape === 'functions'
      ? (await run.edges(at)).filter((edge) => edge.caller === of).map((edge) => ({ ...edge, function: edge.callee }))
      : calleesOf(paths.tree, paths.costs, paths.of, lines, run.names.name.length);
  const sums = new Map();
  for (const { caller, file: elsewhere, line, col, function: callee, cumulative } of calls) {
    if (line < 0 || callee >= run.names.name.length) continue;
    const file = elsewhere === '' ? run.names.file[caller] : elsewhere;
    const key = `${caller} ${line} ${col} ${callee} ${file}`;
    const sum = sums.get(key);
    // SQL's SUM passes over what is unknown.
    if (!sum) sums.set(key, { caller, file, line, col, function: callee, cumulative });
    else if (!Number.isNaN(cumulative)) sum.cumulative = (Number.isNaN(sum.cumulative) ? 0 : sum.cumulative) + cumulative;
  }
  return [...sums.values()];
}

/** Stored source of functions: all its lines, and those that are between a known line of a function and the next known one of
 * another. Keys are function, file and line. @param {Run} run @param {{of: number, file: string}[]} found @param {Set<number>} functions */
async function sourceOf(run, found, functions) {
  /** @type {Map<string, string>} */
  const all = new Map();
  /** @type {Map<string, {of: number, file: string, line: number}>} */
  const own = new Map();
  const sources = await run.sources();
  if (!sources) return { all, own };
  const isShown = new Set(found.map((row) => `${row.of} ${row.file}`));
  /** @type {Map<string, Map<number, Set<number>>>} */
  let known = new Map();
  if (sources.places.some(([of, file]) => functions.has(of) && file !== '')) known = await knownLines(run);
  for (const [of, file, text] of sources.places) {
    if (!functions.has(of)) continue;
    const lines = sources.texts[text];
    for (const [line, code] of lines) all.set(`${of} ${file} ${line}`, code);
    if (!isShown.has(`${of} ${file}`)) continue;
    const ofFile = known.get(file) ?? new Map();
    const marks = [...ofFile.keys()].sort((one, other) => one - other);
    let at = 0;
    let isOwn = false;
    for (const [line] of lines) {
      while (at < marks.length && marks[at] <= line) isOwn = ofFile.get(marks[at++]).has(of);
      if (file === '' || isOwn) own.set(`${of} ${file} ${line}`, { of, file, line });
    }
  }
  return { all, own };
}

/** By file, the lines that the run knows, and whose they are. @param {Run} run @returns {Promise<Map<string, Map<number, Set<number>>>>} */
function knownLines(run) {
  return run.once('known lines', async () => {
    const { names } = run;
    const lines = await run.lines();
    const known = new Map();
    const add = (/** @type {number} */ of, /** @type {string} */ file, /** @type {number} */ line) => {
      let ofFile = known.get(file);
      if (!ofFile) known.set(file, (ofFile = new Map()));
      const same = ofFile.get(line);
      if (same) same.add(of);
      else ofFile.set(line, new Set([of]));
    };
    for (let at = 0; at < lines.count; at++) {
      const of = lines.function[at];
      add(of, lines.file[at] === '' ? names.file[of] : lines.file[at], lines.line[at]);
    }
    for (const edge of await run.edges(0)) {
      if (edge.caller >= 0 && edge.line >= 0) add(edge.caller, edge.file === '' ? names.file[edge.caller] : edge.file, edge.line);
    }
    names.line.forEach((line, of) => {
      if (line > 0) add(of, names.file[of], line);
    });
    return known;
  });
}

/** Every place of the tree. @param {Run} run @param {any} seen @param {Header} header @returns {Promise<Answer>} */
async function ofTree(run, seen, header) {
  const { lines, paths } = seen;
  const { tree, costs } = paths;
  const { names } = run;
  const readings = run.metrics.findIndex((metric) => metric.timer_readings);
  const ticks = readings < 0 || tree.count < (await run.tree()).count ? null : await run.costs(readings).catch(() => null);
  const first = run.about.left.places ? null : run.about.first_node;
  const rows = [];
  const functions = [];
  const elements = [];
  for (const from of paths.of.outermost) {
    for (let place = from; place <= tree.last[from]; place++) {
      const of = tree.function[place];
      const line = tree.line[place];
      const isLine = line >= 0;
      const file = isLine && lines.file[line] !== '' ? lines.file[line] : names.file[of];
      rows.push([
        tree.depth[place] - (header.shape === 'run' ? 0 : tree.depth[from]),
        names.name[of] ?? LEFT_OUT,
        isLine ? lines.line[line] : null,
        isLine && lines.col[line] !== 0 ? lines.col[line] : null,
        orNull(tree.calls[place]),
        costs.own[place],
        orNull(costs.all[place]),
        ticks ? orNull(ticks.own[place]) : null,
        ticks ? orNull(ticks.all[place]) : null,
        null,
        names.module[of] ?? '',
        file ?? '',
        names.line[of] || null,
        first === null ? null : first + tree.number[place],
        first === null || tree.parent[place] < 0 ? null : first + tree.number[tree.parent[place]],
        names.id[of] ?? null,
      ]);
      functions.push(of < names.name.length ? of : -1);
      elements.push(placeName(run, tree, lines, place));
    }
  }
  return { columns: COLUMNS.tree.split(' '), rows, header, functions, elements };
}

/** What a place is called. @param {Run} run @param {import('./profile.js').Tree} tree @param {import('./profile.js').Lines} lines @param {number} place */
function placeName(run, tree, lines, place) {
  const name = run.names.name[tree.function[place]] ?? LEFT_OUT;
  const line = tree.line[place];
  return line < 0 ? name : lineName(name, lines.file[line], lines.line[line], lines.col[line]);
}

/** Returns what a place is shown as. @param {Run} run @param {import('./profile.js').Tree} tree @param {import('./profile.js').Lines} lines @param {number} place */
export function placeLabel(run, tree, lines, place) {
  const name = placeName(run, tree, lines, place);
  const of = tree.function[place];
  return of < run.names.name.length ? run.labelOf(of) + name.slice(run.names.name[of].length) : name;
}

/** The tree as arrays, for pictures: what a path leads to, or all roots. @param {Run} run @param {Question} question @returns {Promise<any>} */
export async function askTree(run, question) {
  const seen = await look(run, { ...question, report: 'tree' });
  return { ...seen.paths, lines: seen.lines, metric: seen.metric, header: { question, selected: seen.selected, total: seen.metric.total } };
}

/** The statement that gives an answer in SQL. @param {Run} run @param {Answer} answer */
export async function sqlOf(run, answer) {
  if (isServed()) return servedStatement(run, answer.header);
  const { question, metric, shape, steps, exclusive } = answer.header;
  const labels = question.label ?? [];
  const key = JSON.stringify([question.report, metric.name, shape, exclusive, question.percentOf === 'selection', labels.length > 0]);
  return statement(await run.statements(), key, steps, labels);
}
