// The types of AssemblyScript that layout.ts has, for the host.

type usize = number;
type u32 = number;
