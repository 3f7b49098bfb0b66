// Searches for calls of one function.

/** Returns a search for exactly this name. Very long names match by their prefix. */
export function exactly(name: string): string {
  const text = name.slice(0, 200).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `/^${text}${name.length > 200 ? '' : '$'}/`;
}
