/** Delays a call until there was none for a while. */
export function debounce<A extends unknown[]>(call: (...args: A) => void, ms: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const debounced = (...args: A) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
  debounced.cancel = () => clearTimeout(timer);
  return debounced;
}
