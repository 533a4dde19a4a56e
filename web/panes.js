// Four panes, as Dyalog's dashboard has them: functions and lines, each as a pie or a table, and below each the source of what
// is clicked.
import { handleOf } from './actions.js';
import { ask, countOf, labelOfRow, shareOf, sideOf } from './ask.js';
import { choice, div, make, note, tick } from './dom.js';
import { pie } from './pie.js';
import { costTable, offers } from './rows.js';
import { linesOf, sourceTable } from './source.js';
import { questionOf } from './state.js';
import { isOfFunctions, labelOfText } from './views.js';

/** Where the splitters are at first, in percent. */
const FIRST = { '--left': 50, '--functions': 62, '--lines': 62 };

/** Where they are; they stay while the page is open. */
const splits = { ...FIRST };

/** What puts those that are shown somewhere. @type {Map<keyof typeof FIRST, (to: number) => void>} */
const setters = new Map();

/** Something that is dragged, or moved by arrows. @param {HTMLElement} box @param {'--left' | '--functions' | '--lines'} name @param {string} label */
function splitter(box, name, label) {
  const isUpright = name === '--left';
  const set = (/** @type {number} */ to) => {
    splits[name] = Math.max(5, Math.min(95, to));
    box.style.setProperty(name, String(splits[name]));
    bar.setAttribute('aria-valuenow', String(Math.round(splits[name])));
  };
  const bar = make('div', {
    class: `splitter ${name.slice(2)}`,
    role: 'separator',
    tabindex: 0,
    'aria-label': label,
    'aria-orientation': isUpright ? 'vertical' : 'horizontal',
    'aria-valuemin': 5,
    'aria-valuemax': 95,
    onpointerdown: (/** @type {PointerEvent} */ event) => {
      bar.setPointerCapture(event.pointerId);
      event.preventDefault();
    },
    onpointermove: (/** @type {PointerEvent} */ event) => {
      if (!bar.hasPointerCapture(event.pointerId)) return;
      const place = box.getBoundingClientRect();
      set(isUpright ? (100 * (event.clientX - place.left)) / place.width : (100 * (event.clientY - place.top)) / place.height);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const step = /** @type {any} */ (isUpright ? { ArrowLeft: -5, ArrowRight: 5 } : { ArrowUp: -5, ArrowDown: 5 })[event.key];
      if (step === undefined) return;
      set(splits[name] + step);
      event.preventDefault();
      event.stopPropagation();
    },
  });
  set(splits[name]);
  setters.set(name, set);
  return bar;
}

/** Puts the splitters where they were at first. */
export function resetSplits() {
  for (const [name, set] of setters) set(FIRST[name]);
}

/** The view. @param {import('./actions.js').Context & {command: any}} context */
export async function panesView(context) {
  const { run, go } = context;
  const { state } = context;
  const isCalls = state.report === 'calls';
  const asked = (/** @type {string} */ report, /** @type {string} */ display) => ask(run, questionOf(state, report, { exclusive: display === 'pie' || state.exclusive !== '' }));
  const hasLines = run.about.lines !== 'none';
  const [functions, lines] = await Promise.all([asked(isCalls ? 'calls' : 'summary', state.functions), hasLines ? asked(isCalls ? 'call_lines' : 'lines', state.lines) : null]);
  const isSingle = !isCalls && state.fn === '' && countOf(functions) === 1 && run.names.kind.filter((_, of) => run.isCode(of)).length === 1;
  const box = make('section', { class: 'panes', 'aria-label': 'Functions and lines' });
  const functionOf = (/** @type {import('./ask.js').Answer} */ answer, /** @type {number} */ row) => sideOf(answer, row).functions[row];
  const cell = (/** @type {import('./ask.js').Answer} */ answer, /** @type {number} */ row, /** @type {number} */ column) => sideOf(answer, row).rows[row][column];
  const textOf = (/** @type {import('./ask.js').Answer} */ answer, /** @type {number} */ row) => (functionOf(answer, row) < 0 ? '' : run.textOf(functionOf(answer, row)));
  const meant = (/** @type {string} */ text) => (text === '' ? [] : run.named(text));
  /** The test of rows for the function, or the line, that was chosen. @param {'functions' | 'lines'} which @returns {(row: number) => boolean} */
  const selected = (which) => {
    const { state: now } = context;
    const functions_ = new Set(meant(now[which === 'functions' ? 'function' : 'line-of']));
    if (which === 'functions') return (row) => functions_.has(functionOf(functions, row));
    return (row) => lines !== null && functions_.has(functionOf(lines, row)) && String(cell(lines, row, lineAt) ?? '') === now.line;
  };
  const lineAt = lines?.columns.indexOf(isCalls ? 'caller_line' : 'line') ?? -1;

  /** @param {string} title @param {string} preset @param {...Element} tools */
  const paneHead = (title, preset, ...tools) =>
    make(
      'header',
      {
        title: 'Double-click: full size and back',
        ondblclick: (/** @type {Event} */ event) => {
          if (/** @type {Element} */ (event.target).closest('button, select, input, label')) return;
          go({ window: context.state.window === preset ? '' : preset });
        },
      },
      make('h2', { text: title }),
      ...tools,
    );
  const display = (/** @type {'functions' | 'lines'} */ which) =>
    choice('Show', state[which], [['pie', 'Pie'], ['table', 'Table']], (to) => go({ [which]: to }));

  /** @param {import('./ask.js').Answer} answer @param {'functions' | 'lines'} which @param {string} title */
  const breakdown = (answer, which, title) => {
    const isSelected = (/** @type {number} */ row) => selected(which)(row);
    const select = (/** @type {number} */ row) =>
      go(which === 'functions' ? { function: textOf(answer, row) } : { 'line-of': textOf(answer, row), line: String(cell(answer, row, lineAt) ?? '') }, true);
    const handle = handleOf(context, (row) => functionOf(answer, row), select);
    if (countOf(answer) === 0) {
      return note(which === 'lines' ? (run.about.left.lines ? 'Lines were left out: the page would be too large.' : 'The file has no lines here.') : 'Nothing to show.');
    }
    if (state[which] === 'table') return costTable(run, answer, title, handle, isSelected, title);
    const exclusive = answer.columns.indexOf('exclusive');
    return pie({
      label: title,
      costs: answer.many?.own ?? answer.rows.map((row) => row[exclusive]),
      name: (row) => labelOfRow(run, answer, row),
      cost: (row) => cell(answer, row, exclusive),
      share: (cost) => shareOf(answer.header, cost),
      isSelected,
      handle,
    });
  };

  /** @type {Record<string, {box: any, shown: string}>} */
  const details = { function: { box: div('content'), shown: '' }, line: { box: div('content'), shown: '' } };
  /** @type {Record<string, any>} */
  const answers = {};
  const detail = async (/** @type {'function' | 'line'} */ which) => {
    const { state: now } = context;
    const name = now[which === 'function' ? 'function' : 'line-of'] || (isSingle ? textOf(functions, 0) : '');
    const pane = details[which];
    const key = JSON.stringify([name, now.line, now.blank, now.uncalled]);
    if (pane.shown === key || pane.box.parentElement === null) return;
    pane.shown = key;
    const head = pane.box.previousElementSibling;
    const offered = head.querySelector('.offers');
    offered.disabled = true;
    head.querySelector('h2').textContent = name === '' ? (which === 'function' ? 'Function' : 'Line') : labelOfText(run, name);
    answers[which] = null;
    if (name === '') {
      pane.box.replaceChildren(note('Click a row or slice above to see it line by line.'));
      return;
    }
    try {
      const answer = await linesOf(context, name);
      if (pane.shown !== key) return;
      answers[which] = answer;
      offered.disabled = false;
      pane.box.replaceChildren(sourceTable(context, answer, which === 'line' && now.line !== '' ? Number(now.line) : null));
    } catch (error) {
      pane.box.replaceChildren(note(/** @type {Error} */ (error).message));
    }
  };
  const tools = (/** @type {'function' | 'line'} */ which) => [
    tick('blank and comments', state.blank === 'shown', (isOn) => go({ blank: isOn ? 'shown' : 'hidden' }, true)),
    tick('uncalled', state.uncalled === 'shown', (isOn) => go({ uncalled: isOn ? 'shown' : 'hidden' }, true)),
    offers(context, 'function', () => answers[which]),
  ];
  const title = isCalls ? ['Callers', 'Calling lines'] : ['Functions', 'Lines'];
  const remark = functions.header.remarks.map((text) => make('p', { class: 'said', text }));
  const pane = (/** @type {string} */ name, /** @type {Element} */ head, /** @type {Element} */ content) => make('section', { class: `pane ${name}`, 'aria-label': name.replace('-', ' ') }, head, content);
  const content = (/** @type {...Element} */ ...children) => div('content', ...children);
  box.append(
    pane('functions', paneHead(title[0], 'functions', display('functions'), offers(context, isCalls ? 'calls' : 'summary', () => functions)), content(...remark, breakdown(functions, 'functions', title[0]))),
    ...(isOfFunctions(run) ? [] : [splitter(box, '--functions', 'Between functions and their source'), pane('function-details', paneHead('Function', 'function-details', ...tools('function')), details.function.box)]),
    ...(lines === null
      ? []
      : [
          splitter(box, '--left', 'Between functions and lines'),
          pane('lines', paneHead(title[1], 'lines', display('lines'), offers(context, isCalls ? 'call_lines' : 'lines', () => lines)), content(breakdown(lines, 'lines', title[1]))),
          splitter(box, '--lines', 'Between lines and their source'),
          pane('line-details', paneHead('Line', 'line-details', ...tools('line')), details.line.box),
        ]),
  );

  /** Marks what is selected, and shows it below. */
  const update = () => {
    const { state: now } = context;
    // Without lines the functions have all the room.
    const only = hasLines ? now.window : isOfFunctions(run) ? 'alone' : 'functions';
    box.className = ['panes', only === '' ? '' : `only-${only}`, isSingle ? 'single' : ''].join(' ').trim();
    const mark = (/** @type {string} */ which, /** @type {(row: number) => boolean} */ isIt) => {
      for (const element of box.querySelectorAll(`.pane.${which} [data-row]`)) {
        const row = Number(element.getAttribute('data-row'));
        if (element.localName === 'path') element.setAttribute('aria-pressed', String(isIt(row)));
        else if (element.localName === 'li') element.classList.toggle('selected', isIt(row));
      }
    };
    mark('functions', selected('functions'));
    mark('lines', selected('lines'));
    for (const table of box.querySelectorAll('.pane.functions .table, .pane.lines .table')) table.refresh();
    for (const input of box.querySelectorAll('.function-details input, .line-details input')) {
      const isBlankBox = input.closest('label').textContent.startsWith('blank');
      input.checked = now[isBlankBox ? 'blank' : 'uncalled'] === 'shown';
    }
    return Promise.all([detail('function'), detail('line')]);
  };
  await update();
  return { element: box, answer: () => functions, update, small: ['function', 'line-of', 'line', 'blank', 'uncalled'] };
}
