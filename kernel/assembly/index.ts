/** The kernel: from the bytes of a page to an index of it, and from an index to the JSON of a selection. */

export { contains } from './contains';
export { hashOf } from './identity';
export { index } from './page';
export { Step } from './plan';
export { Kind } from './table';
export { write } from './write';
