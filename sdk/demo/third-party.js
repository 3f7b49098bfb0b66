// A typical third-party script. It runs in a separate task, so that no function of the page is on
// the stack.
globalThis.thirdParty = () =>
  setTimeout(() => {
    const end = performance.now() + 300;
    let sum = 0;
    while (performance.now() < end) sum += Math.sqrt(sum + 1);
    globalThis.thirdPartyResult = sum;
  });
