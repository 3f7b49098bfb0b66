// Begins to profile, before all other scripts of the page.
fieldtrie.start({
  url: document.querySelector('meta[name=collector]').content,
  release: 'demo',
  environment: 'demo',
  recorder: location.search == '?recorder=on' ? { seconds: 10 } : undefined,
});
