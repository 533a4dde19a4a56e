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

/** A window in front of the page; Escape closes it. @param {string} title @param {...Element} content @returns {HTMLDialogElement} */
export function dialog(title, ...content) {
  const box = make('dialog', { 'aria-label': title }, make('h2', { text: title }), ...content);
  box.append(make('p', { class: 'buttons' }, button('Close', () => box.close())));
  box.addEventListener('close', () => box.remove());
  document.body.append(box);
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
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(list);
  list.style.left = `${Math.max(0, Math.min(x, innerWidth - list.offsetWidth))}px`;
  list.style.top = `${Math.max(0, Math.min(y, innerHeight - list.offsetHeight))}px`;
  addEventListener('pointerdown', outside, true);
  list.querySelector('button:not(:disabled)')?.focus();
}
