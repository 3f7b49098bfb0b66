// What another company's script may look like. It works in a task of its own, so that no function of
// the page is on the stack.
globalThis.thirdParty = () =>
  setTimeout(() => {
    const end = performance.now() + 300;
    let sum = 0;
    while (performance.now() < end) sum += Math.sqrt(sum + 1);
    globalThis.thirdPartyResult = sum;
  });
