// A page with a few hot spots, each of which should appear under its own name.
const $ = (id) => document.getElementById(id);

// ---- Routes ----

function show() {
  for (const section of document.querySelectorAll('section'))
    section.hidden = section.dataset.route != location.pathname;
  for (const link of document.querySelectorAll('nav a'))
    link.toggleAttribute('aria-current', link.pathname == location.pathname);
  $('command').textContent =
    `aggregate --addr ${location.host} --page ${location.pathname} --format top` +
    (location.search == '?recorder=on' ? ' --label reason=error' : '');
  $('slow').textContent =
    `aggregate --addr ${location.host} --page ${location.pathname} --label phase=slow-interaction --format top\n` +
    `aggregate --addr ${location.host} --vitals`;
}

document.querySelector('nav').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link) return;
  event.preventDefault();
  history.pushState(null, '', link.pathname + location.search);
  show();
});
addEventListener('popstate', show);
if (!document.querySelector(`[data-route="${location.pathname}"]`))
  history.replaceState(null, '', '/demo/feed' + location.search);
show();

// ---- Feed ----

function formatDate(day) {
  return new Date(2026, 0, day).toLocaleDateString('en', {
    weekday: 'long',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
  });
}

function renderItem(day) {
  const item = document.createElement('li');
  const words = Array.from({ length: 200 }, (_, i) => ((day * 7919 + i * 104729) % 65536).toString(36));
  item.textContent = `${formatDate(day)}: ${words.sort().slice(0, 6).join(' ')}`;
  return item;
}

function renderFeed(count) {
  $('items').replaceChildren(...Array.from({ length: count }, (_, day) => renderItem(day)));
}

$('feed').addEventListener('click', () => fieldtrie.feature('feed', () => renderFeed(3000)));
$('more').addEventListener('click', () =>
  fieldtrie.feature('feed', async () => {
    await new Promise((done) => setTimeout(done, 200)); // the network
    renderFeed(4000);
  }),
);

// ---- Search ----

const titles = Array.from({ length: 60000 }, (_, i) => `title ${((i * 2654435761) % 4294967296).toString(36)} of ${i}`);

function tokenize(text) {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

function rankMatches(query) {
  const wanted = tokenize(query);
  const score = (title) =>
    tokenize(title).reduce((sum, word) => sum + wanted.filter((want) => word.includes(want)).length, 0);
  return titles
    .map((title) => [score(title), title])
    .filter(([points]) => points)
    .sort((a, b) => b[0] - a[0]);
}

$('query').addEventListener('input', () =>
  fieldtrie.feature('typeahead', () => {
    const matches = rankMatches($('query').value).slice(0, 10);
    $('matches').replaceChildren(
      ...matches.map(([, title]) => Object.assign(document.createElement('li'), { textContent: title })),
    );
  }),
);

// ---- Layout ----

function fillBoxes() {
  if ($('boxes').childElementCount) return;
  $('boxes').append(
    ...Array.from({ length: 12000 }, (_, i) => {
      const box = document.createElement('span');
      box.textContent = i % 10;
      return box;
    }),
  );
}

function moveBoxes() {
  fillBoxes();
  $('boxes').classList.toggle('moved');
}

function measureBoxes() {
  fillBoxes();
  for (let i = 0; i < 4; i++) {
    $('boxes').classList.toggle('moved');
    $('boxes').title = $('boxes').offsetHeight; // forces layout
  }
}

$('dirty').addEventListener('click', () => requestAnimationFrame(moveBoxes));
$('thrash').addEventListener('click', measureBoxes);

// ---- Web Vitals ----

const vitals = {};
function watch(type, to) {
  if (!PerformanceObserver.supportedEntryTypes.includes(type)) return;
  const show = (entries) => {
    entries.forEach(to);
    $('vitals').textContent = Object.entries(vitals)
      .map(([name, value]) => `${name} ${name == 'CLS' ? value.toFixed(3) : Math.round(value) + ' ms'}`)
      .join(', ');
  };
  new PerformanceObserver((list) => show(list.getEntries())).observe({ type, buffered: true, durationThreshold: 16 });
}
watch('largest-contentful-paint', ({ startTime }) => (vitals.LCP = startTime));
watch('layout-shift', ({ value, hadRecentInput }) => (vitals.CLS = (vitals.CLS ?? 0) + (hadRecentInput ? 0 : value)));
watch('event', ({ interactionId, duration }) => {
  if (interactionId) vitals.INP = Math.max(vitals.INP ?? 0, duration);
});

// ---- Third party, errors, state ----

$('third').addEventListener('click', () => globalThis.thirdParty());
$('error').addEventListener('click', function failOnPurpose() {
  throw new Error('the demo threw this on purpose');
});
$('stop').addEventListener('click', () => {
  fieldtrie.stop();
  $('state').textContent = 'Sent when the browser is idle, within 5 s. Load the page again to begin anew.';
});

function stateOf() {
  if (!globalThis.Profiler) return 'This browser has no profiler: use Chrome, Edge or another Chromium.';
  if (location.search == '?header=off') return 'Not profiled: the document came without the header.';
  if (location.search == '?recorder=on') return 'The flight recorder is on: throw an error to send the last 10 s.';
  return 'This page view is being profiled.';
}
$('state').textContent = stateOf();
$('stop').disabled = !globalThis.Profiler || location.search != ''; // there would be nothing to send
