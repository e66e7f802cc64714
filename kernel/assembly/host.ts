/**
 * Given by the host: writes the JSON of the number between `from` and `end` to `to`, as `style` says. Returns its length; 0
 * where there is none, or where it is longer than `capacity`. Floats are the host's matter: it reads and writes them exactly.
 */
export declare function exactNumber(from: u32, end: u32, style: u32, to: u32, capacity: u32): i32;
