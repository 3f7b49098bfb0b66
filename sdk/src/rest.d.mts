// rest.js as it is built.
export { default } from './rest.js';
