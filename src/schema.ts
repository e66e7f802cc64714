import './graph/scalars.ts';
import './graph/node.ts';
import './chains/schema.ts';
import './wallets/schema.ts';
import './transactions/schema.ts';
import './collectibles/schema.ts';
import './webhooks/schema/webhook.ts';
import './webhooks/schema/connection.ts';
import './webhooks/schema/addresses.ts';
import './webhooks/schema/mutations.ts';
import './deliveries/schema/fields.ts';
import { withWeighedFields } from './graph/answer/weighed-fields.ts';
import { builder } from './graph/builder.ts';

/** The schema. Each feature adds itself to the builder when it is imported: a new lookup is one more import above. */
export const schema = withWeighedFields(builder.toSchema());
