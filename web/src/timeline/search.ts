// Searching for calls of one function.

/** Returns what is searched for to find a name and no longer ones. Only the beginning of a very long name is looked at. */
export function exactly(name: string): string {
  const text = name.slice(0, 200).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `/^${text}${name.length > 200 ? '' : '$'}/`;
}
