function t(e){return`${Math.floor(e/100)}.${String(e%100).padStart(2,"0")} €`}function n(e){postMessage(t(e.data))}addEventListener("message",n);
//# sourceMappingURL=worker.js.map
