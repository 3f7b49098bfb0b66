// The search: a result has all words. Words in a heading count most, then keywords of a page, then
// its text.
const input = document.getElementById('search');
const found = document.getElementById('found');
const most = 20;

const parts = window.searched.map((part) => ({
  ...part,
  heading: part.h.toLowerCase(),
  text: part.t.toLowerCase(),
  keywords: (part.k ?? '').split(' ').filter(Boolean),
}));
const titles = new Map(parts.filter((part) => !part.i).map((part) => [part.p, part.h]));

function score(part, words) {
  let sum = 0;
  for (const word of words) {
    if (part.keywords.some((keyword) => keyword.startsWith(word))) sum += 10;
    else if (part.heading.includes(word)) sum += part.heading.startsWith(word) ? 12 : 8;
    else if (part.p.includes(word)) sum += 4;
    else if (part.text.includes(word)) sum += 1;
    else return 0;
  }
  return sum + (part.i ? 0 : 2);
}

function around(part, word) {
  const at = Math.max(0, part.text.indexOf(word) - 40);
  return (at ? '…' : '') + part.t.slice(at, at + 140) + (part.t.length > at + 140 ? '…' : '');
}

function element(name, text, children = []) {
  const e = document.createElement(name);
  e.textContent = text;
  e.append(...children);
  return e;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = !words.length;
  const best = parts
    .map((part) => [score(part, words), part])
    .filter(([points]) => points > 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, most);
  found.replaceChildren(
    ...best.map(([, part]) => {
      const link = element('a', part.i ? `${titles.get(part.p)}: ${part.h}` : part.h, [
        element('small', around(part, words[0])),
      ]);
      link.href = `${part.p}.html${part.i ? `#${part.i}` : ''}`;
      return element('li', '', [link]);
    }),
  );
  if (!best.length) found.append(element('p', 'Nothing has all of these words.'));
}

// A button on each block of code copies it. Browsers offer the clipboard to secure pages only.
for (const block of navigator.clipboard ? document.querySelectorAll('main pre') : []) {
  const button = element('button', 'Copy');
  button.type = 'button';
  button.addEventListener('click', async () => {
    const done = await navigator.clipboard.writeText(block.querySelector('code').textContent).then(
      () => 'Copied',
      () => 'Not allowed',
    );
    button.textContent = done;
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  const frame = document.createElement('div');
  frame.className = 'block';
  block.replaceWith(frame);
  frame.append(block, button);
}

input.addEventListener('input', show);
found.addEventListener('click', () => (found.hidden = true));
document.addEventListener('keydown', (event) => {
  if (event.key == '/' && document.activeElement != input) {
    event.preventDefault();
    input.focus();
  } else if (event.key == 'Escape') {
    found.hidden = true;
    input.blur();
  } else if ((event.key == 'ArrowDown' || event.key == 'ArrowUp') && !found.hidden) {
    const links = [...found.querySelectorAll('a')];
    const next = links[links.indexOf(document.activeElement) + (event.key == 'ArrowDown' ? 1 : -1)];
    event.preventDefault();
    (next ?? input).focus();
  }
});
