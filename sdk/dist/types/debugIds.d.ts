/**
 * Returns the suffix that marks the debug ID of a script in a resource, by URL: see docs/format.md.
 * It is false for a URL with several IDs. Bundlers and their plugins store IDs in globals, keyed by
 * the stack of an error created in the script: see docs/sdk.md.
 */
export declare function debugIds(): Record<string, string | false>;
