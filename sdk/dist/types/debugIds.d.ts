/**
 * Returns by URL what marks the debug ID of a script in a resource: see docs/format.md. It is false
 * for a URL that has several. Bundlers and their plugins note IDs in globals, each by the stack of an
 * error that was made in the script: see docs/sdk.md.
 */
export declare function debugIds(): Record<string, string | false>;
