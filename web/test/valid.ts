// Checks documents against the rules of HTML with html-validate.

import assert from 'node:assert/strict';
import { HtmlValidate, StaticConfigLoader } from 'html-validate';

// The rules of the standard, without rules of style.
const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ['html-validate:standard'] }));

/** Fails if a document is not valid. */
export async function isValid(name: string, text: string): Promise<void> {
  const { results } = await validator.validateString(text, name);
  const faults = results.flatMap(({ messages }) =>
    messages.map(({ line, column, ruleId, message }) => {
      const near = text.split('\n')[line - 1]?.slice(Math.max(0, column - 60), column + 80);
      return `${name}:${line}:${column}: ${ruleId}: ${message}: ${near}`;
    }),
  );
  assert.deepEqual(faults, []);
}
