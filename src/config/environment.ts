/** The environment of a process. An empty variable counts as not set. */
export type Environment = { readonly [name: string]: string | undefined };
