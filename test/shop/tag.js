// A third-party script: it inspects the whole page for each of its partners, and counts.
(() => {
  const partners = Array.from({ length: 3 }, (_, i) => new Map([['partner', i]]));

  function fingerprint(text) {
    let hash = 0;
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
    return hash;
  }

  function collect() {
    for (const seen of partners) {
      for (const element of document.querySelectorAll('main *')) {
        const key = fingerprint(element.outerHTML);
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    }
  }

  setTimeout(collect, 900);
})();
