// The first route, set before profiling starts: otherwise the page's time is under two names.
if (location.pathname == '/demo/') history.replaceState(null, '', '/demo/feed' + location.search);

// Starts profiling, before all other scripts of the page.
fieldtrie.start({
  url: document.querySelector('meta[name=collector]').content,
  release: 'demo',
  environment: 'demo',
  labels: { theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light' },
  sampleRate: 1, // the server decides, except with ?header=off
  recorder: location.search == '?recorder=on' ? { seconds: 10 } : undefined,
});
