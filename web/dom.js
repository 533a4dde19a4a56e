// Elements. Text enters the page by `textContent` only: names are strangers'.

/** Makes an element. Properties that begin with `on` are listeners, `text` is its text, the others attributes; `null` is none.
 * @param {string} tag @param {Record<string, any>} [properties] @param {...(Element | string | null)} children @returns {any} */
export function make(tag, properties = {}, ...children) {
  const isPicture = ['svg', 'path', 'g', 'circle', 'rect', 'title', 'text'].includes(tag);
  const element = isPicture ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'text') element.textContent = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** A box of a kind. @param {string} kind @param {...(Element | string | null)} children @returns {any} */
export function div(kind, ...children) {
  return make('div', { class: kind }, ...children);
}

/** Words of a kind, or other things in a line. @param {string} kind @param {...(Element | string)} children @returns {any} */
export function span(kind, ...children) {
  return make('span', { class: kind }, ...children);
}

/** What is said to the reader. @param {string} text @returns {any} */
export function note(text) {
  return make('p', { class: 'said', text });
}

/** A drop-down. @param {string} label @param {string} value @param {[string, string][]} options Values and texts. @param {(value: string) => void} changed */
export function choice(label, value, options, changed) {
  const select = make('select', { onchange: () => changed(select.value) });
  for (const [of, text] of options) select.append(make('option', { value: of, text, selected: of === value }));
  return make('label', { class: 'choice' }, make('span', { text: label }), select);
}

/** A box to tick. @param {string} label @param {boolean} isOn @param {(isOn: boolean) => void} changed */
export function tick(label, isOn, changed) {
  const box = make('input', { type: 'checkbox', checked: isOn, onchange: () => changed(box.checked) });
  return make('label', { class: 'choice' }, box, make('span', { text: label }));
}

/** @param {string} text @param {() => void} clicked @param {Record<string, any>} [properties] */
export function button(text, clicked, properties = {}) {
  return make('button', { type: 'button', text, onclick: clicked, ...properties });
}

/** Milliseconds within which two clicks at one place are one gesture. */
const DOUBLE = 500;

/** The first click of what may become two: it may lead to other rows, and what the second one meets then is not meant, if it is
 * a click at all where its button goes down and up on different ones.
 * @type {{element: Element, event: MouseEvent, open: (isDirect: boolean) => void} | null} */
let first = null;
addEventListener(
  'mouseup',
  (event) => {
    const before = first;
    if (!before || before.element.isConnected) return;
    first = null;
    const { event: one } = before;
    const isFar = Math.abs(event.clientX - one.clientX) + Math.abs(event.clientY - one.clientY) > 4;
    if (isFar || event.button !== 0 || (event.detail !== 2 && event.timeStamp - one.timeStamp > DOUBLE)) return;
    const stop = (/** @type {Event} */ click) => click.stopPropagation();
    addEventListener('click', stop, true);
    setTimeout(() => removeEventListener('click', stop, true));
    before.open(event.altKey);
  },
  true,
);

/** What mouse and keys do with what an element shows. `find` says what an event is about, `null` for nothing; `clicked` and
 * `pressed` may do something else, and say so.
 * @param {any} element @param {(event: any) => any} find @param {import('./actions.js').Handle} handle
 * @param {{clicked?: (of: any, event: MouseEvent) => any, pressed: (of: any, event: KeyboardEvent) => any}} own */
export function gestures(element, find, handle, { clicked, pressed }) {
  element.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    const of = find(event);
    if (of === null || clicked?.(of, event)) return;
    // The second click may meet another element than the first, which a double click would need.
    if (event.detail === 2) {
      first = null;
      handle.open?.(of, event.altKey);
    } else if (event.detail < 2) {
      first = { element, event, open: (isDirect) => handle.open?.(of, isDirect) };
      handle.select?.(of);
    }
  });
  element.addEventListener('contextmenu', (/** @type {MouseEvent} */ event) => {
    const of = find(event);
    if (of === null || !handle.menu) return;
    event.preventDefault();
    handle.menu(of, event.clientX, event.clientY);
  });
  element.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const of = find(event);
    if (of === null || event.ctrlKey || event.metaKey) return;
    if (!pressed(of, event)) {
      if (event.key === 'Enter') handle.open?.(of, event.altKey);
      else if (event.key === ' ') handle.select?.(of);
      else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
        const place = /** @type {Element} */ (event.target).getBoundingClientRect();
        handle.menu?.(of, place.left + 20, place.top + 20);
      } else if (!handle.key?.(of, event.key)) return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Does something once an element is seen: views are made before they are in the page, and a server may let them wait.
 * @param {Element} element @param {() => void} act */
export function onceSeen(element, act) {
  const observer = new ResizeObserver(() => {
    if (element.clientWidth === 0) return;
    observer.disconnect();
    act();
  });
  observer.observe(element);
}

/** Where names are searched: what is written goes into the address, and Enter to what is found.
 * @param {import('./state.js').State} state @param {(changes: Record<string, string>, isSmall?: boolean) => void} go @param {(step: 1 | -1) => any} [next] @param {string} [words] */
export function searchBox(state, go, next = () => undefined, words = 'Search for names') {
  const search = make('input', {
    type: 'search',
    id: 'search',
    value: state.search,
    placeholder: words,
    'aria-label': words,
    oninput: () => go({ search: search.value }, true),
    onkeydown: (/** @type {KeyboardEvent} */ { key, shiftKey }) => (key === 'Enter' ? next(shiftKey ? -1 : 1) : undefined),
  });
  return search;
}

/** A button that copies a text, or else selects it. @param {string} text @param {() => void} select @param {Record<string, any>} [properties] */
export function copyButton(text, select, properties) {
  const copy = button(
    'Copy',
    async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = 'Copied';
      } catch {
        select();
        copy.textContent = 'Selected: copy it with the keyboard';
      }
    },
    properties,
  );
  return copy;
}

/** A window in front of the page; Escape closes it. @param {string} title @param {...Element} content @returns {HTMLDialogElement} */
export function dialog(title, ...content) {
  const box = make('dialog', { 'aria-label': title }, make('h2', { text: title }), ...content);
  box.append(make('p', { class: 'buttons' }, button('Close', () => box.close())));
  box.addEventListener('close', () => box.remove());
  document.querySelector('main')?.append(box);
  box.showModal();
  return box;
}

/** A menu at a place of the window: names and what they do. @param {number} x @param {number} y @param {[string, (() => void) | null][]} items */
export function menu(x, y, items) {
  document.querySelector('.menu')?.remove();
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const list = make('div', { class: 'menu', role: 'menu' });
  const close = () => {
    list.remove();
    removeEventListener('pointerdown', outside, true);
    before?.focus();
  };
  const outside = (/** @type {Event} */ event) => {
    if (!list.contains(event.target)) close();
  };
  for (const [text, act] of items) {
    list.append(button(text, () => (close(), act?.()), { role: 'menuitem', disabled: act === null }));
  }
  list.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const entries = [...list.querySelectorAll('button:not(:disabled)')];
    const at = entries.indexOf(document.activeElement);
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') entries[(at + 1) % entries.length].focus();
    else if (event.key === 'ArrowUp') entries[(at - 1 + entries.length) % entries.length].focus();
    else if (event.key === 'Home') entries[0].focus();
    else if (event.key === 'End') entries.at(-1)?.focus();
    else if (event.key === 'Tab') close();
    else if (event.key === ' ' || event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.querySelector('main')?.append(list);
  list.style.left = `${Math.max(0, Math.min(x, innerWidth - list.offsetWidth))}px`;
  list.style.top = `${Math.max(0, Math.min(y, innerHeight - list.offsetHeight))}px`;
  addEventListener('pointerdown', outside, true);
  list.querySelector('button:not(:disabled)')?.focus();
}
