import type { DatabaseSync } from 'node:sqlite';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { Approval, Effect, Hex } from '../../types.ts';
import { amountBytes, amountOf, bytesOf, hexOf } from '../blocks/encoding.ts';

/** What an approval is for: an amount of an ERC-20, one NFT, or all NFTs of a contract. */
export const KINDS = { amount: 0, one: 1, all: 2 } as const;

type Kind = (typeof KINDS)[keyof typeof KINDS];

/** What an owner has ever approved, which may have been used or revoked since: only the contract says what is left. */
export type Candidate = {
  readonly token: Hex;
  readonly spender: Hex;
  readonly kind: Kind;
  /** 0 unless it is for one NFT. */
  readonly tokenId: bigint;
};

/**
 * The table `approvals`: who was ever approved by whom. An approval of a block that is no longer part of the chain stays in it,
 * since it only says what contracts are asked.
 */
export class Approvals {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync) {
    database.exec(SCHEMA);
    this.#statements = prepare(database);
  }

  /** Within the transaction that adds a block. */
  add(slot: number, effects: Iterable<Effect>): void {
    addTo(this.#statements, slot, effects);
  }

  /** The approvals of an owner behind one of them, in the order of the table. */
  of(owner: Hex, slot: number, after: Candidate | null, limit: number): readonly Candidate[] {
    const { token, spender, kind, tokenId } = after ?? FIRST;
    return this.#statements.behind
      .all(bytesOf(owner), slot, bytesOf(token), bytesOf(spender), kind, amountBytes(tokenId), limit)
      .flatMap((row) =>
        row.token instanceof Uint8Array &&
        row.spender instanceof Uint8Array &&
        row.token_id instanceof Uint8Array
          ? [
              {
                token: hexOf(row.token),
                spender: hexOf(row.spender),
                kind: Number(row.kind) as Kind,
                tokenId: amountOf(row.token_id),
              },
            ]
          : [],
      );
  }
}

/** Before all others. */
const FIRST: Candidate = { token: '0x', spender: '0x', kind: KINDS.amount, tokenId: 0n };

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS approvals (
    owner BLOB NOT NULL,
    slot INTEGER NOT NULL,
    token BLOB NOT NULL,
    spender BLOB NOT NULL,
    kind INTEGER NOT NULL,
    token_id BLOB NOT NULL,
    PRIMARY KEY (owner, slot, token, spender, kind, token_id)
  ) STRICT, WITHOUT ROWID`;

const prepare = (database: DatabaseSync) => ({
  add: database.prepare('INSERT OR IGNORE INTO approvals VALUES (?, ?, ?, ?, ?, ?)'),
  behind: database.prepare(
    `SELECT token, spender, kind, token_id FROM approvals
     WHERE owner = ? AND slot = ? AND (token, spender, kind, token_id) > (?, ?, ?, ?)
     ORDER BY token, spender, kind, token_id LIMIT ?`,
  ),
});

/** Nobody can use an approval of the zero address: it revokes another one. */
const addTo = ({ add }: ReturnType<typeof prepare>, slot: number, effects: Iterable<Effect>): void => {
  for (const effect of effects) {
    if (effect.kind !== 'approval' || effect.spender === ZERO_ADDRESS || effect.value === 0n) continue;
    const { owner, token, spender, tokenId } = effect;
    add.run(
      ...[bytesOf(owner), slot, bytesOf(token)],
      bytesOf(spender),
      kindOf(effect),
      amountBytes(tokenId ?? 0n),
    );
  }
};

const kindOf = ({ asset, tokenId }: Approval): Kind => {
  if (asset === 'erc20') return KINDS.amount;
  return tokenId === null ? KINDS.all : KINDS.one;
};
