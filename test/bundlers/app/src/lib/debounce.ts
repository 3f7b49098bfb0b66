/** Calls a function after a time without another call. */
export function debounce<A extends unknown[]>(call: (...args: A) => void, ms: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const debounced = (...args: A) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
  debounced.cancel = () => clearTimeout(timer);
  return debounced;
}
