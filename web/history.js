// What runs of one program cost over time: points, their levels, and the steps between them.
import { testColumns } from './change.js';
import { button, choice, copyButton, div, make, note, span } from './dom.js';
import { ratioText } from './judged.js';
import { figure, fixed, ofColumn, percent, rounded } from './numbers.js';
import { placesOf } from './places.js';
import { isServed } from './served.js';
import { table } from './table.js';
import { Unanswered, plain, quoted, shellWord, shortCommit, shown } from './texts.js';
import { offersOfTold } from './told.js';

/** @typedef {{run: number, commit: string | null, position: number, cost: number, total: number, row: any}} Point */
/** @typedef {{name: string, file: string, module: string, points: Point[], medians: number[], changes: any[], blind: number | null}} Subject */

/** Letters of a label of the axis. */
const MOST_LETTERS = 14;

/** What the view follows without being made anew. */
const WITHIN_HISTORY = ['point', 'zero'];

/** Size of the picture, and room for what is written beside it. */
const [HIGH, LEFT, RIGHT, TOP, BOTTOM] = [300, 84, 16, 34, 44];

/** The subjects of a history: one for each function, or the whole run. @param {any} answer @returns {Subject[]} */
function subjectsOf(answer) {
  /** @type {Map<number, number>} */
  const positionOf = new Map();
  answer.positions.forEach((/** @type {any} */ position, /** @type {number} */ at) => position.runs.forEach((/** @type {number} */ run) => positionOf.set(run, at)));
  /** @type {Map<string, Subject>} */
  const all = new Map();
  for (const row of answer.rows) {
    const key = JSON.stringify([row.function, row.module, row.file]);
    let subject = all.get(key);
    if (!subject) all.set(key, (subject = { name: nameOfChange(row), file: row.file, module: row.module, points: [], medians: [], changes: [], blind: null }));
    subject.points.push({ run: row.run_id, commit: row.commit_id, position: positionOf.get(row.run_id) ?? 0, cost: row.exclusive, total: row.total, row });
  }
  const subjects = [...all.values()];
  subjects.forEach((subject, at) => {
    const steps = answer.steps?.[at];
    subject.changes = steps?.changes ?? [];
    subject.blind = steps?.blind_below ?? null;
    for (let position = 0; position < answer.positions.length; position++) {
      const costs = subject.points.filter((point) => point.position === position).map((point) => point.cost);
      costs.sort((one, other) => one - other);
      const middle = costs.length >> 1;
      subject.medians.push(costs.length === 0 ? NaN : costs.length % 2 === 1 ? costs[middle] : (costs[middle - 1] + costs[middle]) / 2);
    }
  });
  return subjects;
}

/** Returns the name of a position. @param {any} answer @param {number} position */
function positionName(answer, position) {
  const { commit_id: commit, runs } = answer.positions[position];
  return commit === null ? `run ${runs[0]}` : plain(shortCommit(commit));
}

/** Returns a label of the axis. @param {any} answer @param {number} position */
function axisLabel(answer, position) {
  const name = positionName(answer, position);
  if (/^[0-9A-Fa-f]+$/.test(name)) return name.slice(0, 7);
  return name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name;
}

/** Round numbers from the bottom to the top of a scale. @param {number} low @param {number} high @param {number} unit */
function ticks(low, high, unit) {
  const span = (high - low) / unit;
  if (!(span > 0)) return [low];
  const rough = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * rough).find((step) => span / step <= 5) ?? rough * 10;
  const all = [];
  // From the one below to the one above.
  for (let at = Math.floor(low / unit / step + 1e-9); all.length === 0 || all[all.length - 1] < high * (1 - 1e-9); at++) all.push(at * step * unit);
  return all;
}

/** The picture. @param {any} context @param {any} answer @param {Subject} subject @param {number} wide */
function chart(context, answer, subject, wide) {
  const { go, state } = context;
  const { metric, unit } = answer;
  const costs = subject.points.map((point) => point.cost);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const isFromZero = state.zero !== 'no' || least === most;
  const scale = ofColumn(metric, unit, most, 0);
  const bottom = isFromZero ? Math.min(0, least) : least - 0.08 * (most - least);
  const top = most + 0.08 * (isFromZero ? most : most - least) || 1;
  const marks = ticks(bottom, top, scale.size);
  const [low, high] = [Math.min(bottom, ...marks), Math.max(top, ...marks)];
  const count = answer.positions.length;
  const width = wide - LEFT - RIGHT;
  const height = HIGH - TOP - BOTTOM;
  const each = width / count;
  const x = (/** @type {number} */ position) => LEFT + (position + 0.5) * each;
  const y = (/** @type {number} */ cost) => TOP + height * (1 - (cost - low) / (high - low));
  const changes = subject.changes.filter((change) => change.change === 'step');
  const byRun = new Map(answer.positions.flatMap((/** @type {any} */ position, /** @type {number} */ at) => position.runs.map((/** @type {number} */ run) => [run, at])));
  const at = (/** @type {any} */ change) => byRun.get(change.run_id) ?? 0;
  const said = `${isWhole(subject) ? 'Whole run' : `${shown(subject.name)}, exclusive,`} over ${count} positions: from ${figure(metric, unit, subject.medians[0])} to ${figure(metric, unit, subject.medians[count - 1])}, ${changes.length === 1 ? '1 step' : `${changes.length} steps`}. The table below has every point.`;
  const picture = make('svg', { class: 'chart', viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, role: 'group', 'aria-label': said });
  const text = (/** @type {number} */ atX, /** @type {number} */ atY, /** @type {string} */ words, /** @type {string} */ kind) => picture.append(make('text', { x: atX, y: atY, class: kind, text: words }));
  for (const tick of marks) {
    picture.append(make('path', { class: 'grid', d: `M${LEFT} ${y(tick)}H${wide - RIGHT}` }));
    text(LEFT - 8, y(tick) + 4, `${rounded(scale, tick)} ${scale.unit}`.trimEnd(), 'tick y');
  }
  // As many labels as fit beside each other.
  const labels = answer.positions.map((/** @type {any} */ _, /** @type {number} */ position) => axisLabel(answer, position));
  const every = Math.max(1, Math.ceil((count * (8 * Math.max(...labels.map((/** @type {string} */ label) => label.length)) + 10)) / width));
  for (let position = 0; position < count; position += every) text(x(position), HIGH - BOTTOM + 22, labels[position], 'tick x');
  // Between the last position that certainly had the old level and the first that certainly has the new one.
  changes.forEach((change) => {
    const direction = change.after > change.before ? 'more' : 'less';
    const [from, to] = [byRun.get(change.from_run) ?? at(change), byRun.get(change.to_run) ?? at(change)];
    picture.append(make('rect', { class: `step ${direction}`, x: x(from), y: TOP, width: Math.max(x(to) - x(from), 2), height }));
    const words = change.ratio === null ? (direction === 'more' ? '+ new' : '− gone') : `${direction === 'more' ? '+' : '−'} ×${ratioText(change)}`;
    const middle = (x(from) + x(to)) / 2;
    const label = make('text', { x: Math.max(LEFT + 60, Math.min(middle, wide - RIGHT - 60)), y: TOP - 10, class: `label ${direction}`, text: words });
    picture.append(label);
  });
  const bounds = [0, ...changes.map(at), count];
  for (let part = 0; part + 1 < bounds.length; part++) {
    const [before, after] = [changes[part - 1], changes[part]];
    const level = before ? before.after : after ? after.before : null;
    if (level === null) continue;
    const [from, to] = [LEFT + bounds[part] * each, LEFT + bounds[part + 1] * each];
    if (before && before.ratio_low !== null && before.ratio_high !== null && before.before > 0) {
      const [top, bottom] = [y(Math.min(before.before * before.ratio_high, high)), y(Math.max(before.before * before.ratio_low, low))];
      picture.append(make('rect', { class: 'reach', x: from, y: top, width: Math.max(to - from, 0), height: Math.max(bottom - top, 1) }));
    }
    picture.append(make('path', { class: 'level', d: `M${from} ${y(level)}H${to}` }));
  }
  const line = subject.medians.map((cost, position) => (Number.isNaN(cost) ? '' : `${position === 0 ? 'M' : 'L'}${x(position).toFixed(1)} ${y(cost).toFixed(1)}`)).join('');
  picture.append(make('path', { class: 'line', d: line }));
  const chosen = subject.points.findIndex((point) => String(point.run) === context.state.point);
  subject.points.forEach((point, number) => {
    const name = `${positionName(answer, point.position)}, run ${point.run}: ${figure(metric, unit, point.cost)}`;
    picture.append(
      make(
        'circle',
        {
          class: 'point',
          'data-point': number,
          cx: x(point.position),
          cy: y(point.cost),
          r: number === chosen ? 7 : 4.5,
          role: 'button',
          tabindex: number === Math.max(chosen, 0) ? 0 : -1,
          'aria-pressed': String(number === chosen),
          'aria-label': name,
          onclick: () => go({ point: String(point.run) }, true),
        },
        make('title', { text: name }),
      ),
    );
  });
  picture.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const from = Number(/** @type {Element} */ (event.target).getAttribute('data-point'));
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: subject.points.length - 1, Enter: from, ' ': from }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const point = subject.points[Math.max(0, Math.min(to, subject.points.length - 1))];
    go({ point: String(point.run) }, true);
  });
  return picture;
}

/** Commands about a run, and about it and the one before. @param {any} context @param {any} answer @param {Subject} subject @param {Point | undefined} point */
function pointDetail({ command, state }, answer, subject, point) {
  if (!point && state.point !== '') return [note(`No point belongs to run ${plain(state.point)}.`)];
  if (!point) return [note('Click a point, or select it with the arrow keys, to see its run.')];
  const { metric, unit } = answer;
  const cost = (/** @type {number} */ value) => figure(metric, unit, value);
  const before = point.position > 0 ? subject.medians[point.position - 1] : NaN;
  const change = before > 0 ? `, ${point.cost < before ? '−' : '+'}${fixed((100 * Math.abs(point.cost - before)) / before, 1)} % from the previous position` : '';
  const runs = (/** @type {number} */ position) => answer.positions[position].runs.join(',');
  const base = command.words;
  const commands = [
    ['Show this run', ['profdb', 'report', ...base, '--run', String(point.run), '--html', `run-${point.run}.html`]],
    ...(point.position > 0
      ? [['Compare with the previous position', ['profdb', 'diff', runs(point.position - 1), runs(point.position), ...base, '--html', `diff-${point.run}.html`]]]
      : []),
  ];
  return [
    make('h2', { text: `Run ${point.run}${point.commit === null ? '' : `, ${plain(shortCommit(point.commit))}`}`, title: plain(point.commit ?? '') }),
    make('p', { text: `${cost(point.cost)} of ${cost(point.total)}${change}` }),
    ...[['Branch', point.row.branch], ['Host', point.row.host], ['Recorded', point.row.recorded_utc ?? point.row.recorded_at]].flatMap(([name, value]) => (value ? [note(`${name}: ${plain(value)}`)] : [])),
    ...commands.map(([title, words]) => commandLine(String(title), /** @type {string[]} */ (words))),
  ];
}

/** A command to be copied. @param {string} title @param {string[]} words */
function commandLine(title, words) {
  const text = words.map(shellWord).join(' ');
  const code = make('code', { text });
  const copy = copyButton(text, () => getSelection()?.selectAllChildren(code), { 'aria-label': `Copy: ${title}` });
  return div('command', span('label', title), code, copy);
}

/** The same in SQL. @param {any} answer @param {Subject} subject */
function sqlOfHistory(answer, subject) {
  const runs = subject.points.map((point) => point.run).join(', ');
  const where = `run_id IN (${runs}) AND metric = ${quoted(answer.metric)}`;
  if (subject.name === '') {
    return `SELECT run_id, MAX(total) AS total\nFROM history\nWHERE ${where}\nGROUP BY run_id\nORDER BY MIN(position), MIN(recorded_utc), run_id;\n`;
  }
  return `SELECT run_id, position, commit_id, calls, exclusive, cumulative, total\nFROM history\nWHERE ${where}\n  AND function = ${quoted(subject.name)} AND module = ${quoted(subject.module)} AND file = ${quoted(subject.file)}\nORDER BY position, recorded_utc, run_id;\n`;
}

/** The figures in which steps are looked for. @param {any} answer */
function sqlOfSteps({ metric, series }) {
  const of = Object.entries(series ?? {}).filter(([, value]) => value !== '').map(([name, value]) => `${name}=${value}`);
  const about = plain(of.length === 0 ? '' : `, here those with ${of.join(', ')}`);
  return `-- The figures of each run${about}. profdb computes steps, intervals and q from them (docs/history.md).\nSELECT function, module, file, run_id, position, commit_id, exclusive, total\nFROM history\nWHERE metric = ${quoted(metric)}\nORDER BY function, module, file, position, recorded_utc, run_id;\n`;
}

/** The view. @param {any} context */
export async function historyView(context) {
  const { go, told: all, state } = context;
  /** @type {{told: any, answer: any, subject: Subject}[]} */
  const entries = [];
  // A server is asked about one function: without this there would be no way from it.
  const whole = isServed() && state.function !== '' ? [button('Whole run', () => go({ function: '', module: '', point: '' }))] : [];
  for (const told of all.filter((/** @type {any} */ one) => one.view === 'history')) {
    let answer;
    try {
      answer = await told.answer();
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      return { element: div('history', note(plain(error.message)), div('buttons', ...whole)) };
    }
    for (const subject of subjectsOf(answer)) entries.push({ told, answer, subject });
  }
  // The name may be followed by a place.
  const isAsked = (/** @type {Subject} */ { name }) => state.function === name || (name !== '' && state.function.startsWith(`${name} (`));
  const entry = entries.find(({ subject }) => isAsked(subject) && (state.module === '' || subject.module === state.module)) ?? entries[0];
  const { told, answer, subject } = entry;
  const { metric, unit } = answer;
  const isOther = state.function !== '' && !isAsked(subject);
  const labels = labelsOf(entries.map((one) => one.subject));
  const options = labels.map((label, at) => /** @type {[string, string]} */ ([String(at), label]));
  const scale = ofColumn(metric, unit, Math.max(...subject.points.map((point) => point.cost)), 0);
  const place = div('chart-place');
  const aside = make('aside', { class: 'detail', 'aria-label': 'The selected run' });
  const rows = div('rows-place');
  const draw = () => place.replaceChildren(chart(context, answer, subject, Math.max(place.clientWidth, 480)));
  const update = () => {
    const isFocused = place.contains(document.activeElement);
    draw();
    const { point } = context.state;
    if (isFocused) place.querySelector('circle[tabindex="0"]')?.focus();
    aside.replaceChildren(...pointDetail(context, answer, subject, subject.points.find((one) => String(one.run) === point)));
    const points = /** @type {any} */ (rows.firstElementChild);
    if (points) return points.refresh();
    rows.append(
      table({
        label: 'Points',
        items: subject.points,
        isSelected: (point) => String(point.run) === context.state.point,
        handle: { select: (point) => go({ point: String(point.run) }, true) },
        columns: [
          { title: 'Run', value: (point) => point.run },
          { title: 'Position', isLeft: true, value: (point) => point.position, show: (position) => positionName(answer, position) },
          { title: isWhole(subject) ? scale.title : `${scale.title}, exclusive`, value: (point) => point.cost, show: (cost) => rounded(scale, cost) },
          { title: '% of the run', value: (point) => point.row.exclusive_pct, show: percent },
        ],
      }),
    );
  };
  const steps = subject.changes.length === 0
    ? note(plain(told.about.lines.at(-1) ?? 'No step.'))
    : stepsTable(answer, subject.changes.map((change) => ({ ...change, function: subject.name })), null);
  const element = make(
    'section',
    { class: 'history', 'aria-label': 'History' },
    ...(isOther ? [make('p', { class: 'warning', text: `The page has no history of ${plain(state.function)}: another history is shown.` })] : []),
    note(plain(told.about.lines[0] ?? '')),
    div(
      'bar-of-view',
      ...(entries.length > 1 ? [choice('Of', String(entries.indexOf(entry)), options, (at) => go({ function: entries[Number(at)].subject.name, module: entries[Number(at)].subject.module, point: '' }))] : [make('h2', { text: labels[0] })]),
      choice('Scale', state.zero === 'no' ? 'no' : 'yes', [['yes', 'from 0'], ['no', 'range of the data']], (to) => go({ zero: to === 'no' ? 'no' : '' }, true)),
      ...whole,
      span('room'),
      offersOfTold(told, () => sqlOfHistory(answer, subject)),
    ),
    place,
    div('beside', div('rows-place', make('h2', { text: 'Steps' }), steps, make('h2', { text: 'Points' }), rows), aside),
  );
  update();
  // Also when it comes into the page, and its width is known.
  new ResizeObserver(() => (place.clientWidth > 0 ? draw() : undefined)).observe(place);
  return { element, update, small: WITHIN_HISTORY };
}

/** Whether a subject is the whole run. @param {Subject} subject */
const isWhole = (subject) => subject.name === '';

/** Names of subjects with the places that tell them apart; costs of functions, modules and files are exclusive. @param {Subject[]} subjects @returns {string[]} */
function labelsOf(subjects) {
  return subjects.map((subject) => {
    if (isWhole(subject)) return 'Whole run';
    const namesakes = subjects.filter((other) => other.name === subject.name);
    const places = placesOf(namesakes.map(({ module, file }) => ({ module, file, line: 0, column: 0, isCode: true })));
    const place = namesakes.length > 1 ? places[namesakes.indexOf(subject)] : '';
    return `${shown(subject.name)}${place === '' ? '' : ` (${plain(place)})`}, exclusive`;
  });
}

/** What a row of steps is about. @param {any} change @returns {string} */
const nameOfChange = (change) => change.function || change.module || change.file;

/** Steps as a table. @param {any} answer @param {any[]} changes @param {((change: any) => void) | null} select */
function stepsTable(answer, changes, select) {
  const most = changes.reduce((most, change) => Math.max(most, change.before ?? 0, change.after ?? 0), 0);
  const scale = ofColumn(answer.metric, answer.unit, most, 0);
  const cost = (/** @type {number | null | undefined} */ value) => rounded(scale, value);
  const direction = (/** @type {any} */ change) => (change.ratio === null ? (change.after > change.before ? 'more' : 'less') : change.ratio > 1 ? 'more' : 'less');
  const place = (/** @type {string | null} */ commit, /** @type {number | null} */ run) => (commit ? plain(shortCommit(commit)) : run === null || run === undefined ? '' : `run ${run}`);
  const between = (/** @type {any} */ change) => (change.change === 'drift' ? 'all positions' : change.change === 'none' ? '-' : `${place(change.from_commit, change.from_run)}..${place(change.to_commit, change.to_run)}`);
  return table({
    label: 'Steps',
    items: changes,
    handle: select === null ? {} : { select, open: select },
    columns: [
      ...(changes.length > 0 && changes[0].metric === undefined ? [] : [{ title: 'Function', isText: true, value: nameOfChange, show: shown }]),
      { title: 'Between', isLeft: true, value: (change) => change.position ?? 0, show: (_, change) => between(change) },
      { title: `Before ${scale.title}`, value: (change) => change.before, show: cost },
      { title: `After ${scale.title}`, value: (change) => change.after, show: cost },
      ...testColumns(direction),
      { title: 'State', isLeft: true, value: (change) => plain([change.change === 'drift' ? 'drift' : change.state, change.reason].filter(Boolean).join(': ')) },
    ],
  });
}

/** The functions that changed. @param {any} context */
export async function stepsView(context) {
  const { go, told: all } = context;
  const told = all.find((/** @type {any} */ one) => one.view === 'steps');
  const answer = await told.answer();
  const { rows } = answer;
  const element = make(
    'section',
    { class: 'steps', 'aria-label': 'Steps' },
    ...told.about.lines.map((/** @type {string} */ line) => note(plain(line))),
    div('bar-of-view', span('found', rows.length === 1 ? '1 row' : `${rows.length} rows`), span('room'), offersOfTold(told, () => sqlOfSteps(answer))),
    rows.length === 0
      ? note('No function changed.')
      : stepsTable(answer, rows, !all.some((/** @type {any} */ one) => one.view === 'history') ? null : (row) => go({ view: 'history', function: nameOfChange(row), module: row.module, point: String(row.run_id ?? '') })),
  );
  return { element, small: [], update: () => undefined };
}

