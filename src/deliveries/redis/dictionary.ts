/**
 * What the bodies of deliveries have in common: the names of fields in their order, and usual values. It saves about a
 * third of a compressed body. It must never change, since stored bodies are read with it: a better one needs a flag of its
 * own in the header of entries.
 */
const BALANCE_CHANGES =
  '{"balance_changes":[{"amount_before":"0","amount_after":"1000000000000000000","amount_delta":"1000000000000000000",' +
  '"asset":{"token_address":"0x","symbol":"USDC","name":"USD Coin","decimals":18,"low_liquidity":false,"pool_size_usd":0,' +
  '"token_metadata":{"logo":"https://"}},"counterparty_address":"0x","subscribed_address":"0x","direction":"out",' +
  '"direction":"in","price_usd":null,"transaction_hash":"0x","value_before_usd":null,"value_after_usd":null,' +
  '"value_delta_usd":null},{"amount_before":"';

const TRANSACTIONS =
  '{"transactions":[{"address":"0x","block_hash":"0x","block_number":20000000,"block_time":"2026-01-01T00:00:00+00:00",' +
  '"chain":"arbitrum","chain":"optimism","chain":"polygon","chain":"base","chain":"bnb","chain":"ethereum","chain_id":1,' +
  '"data":"0xa9059cbb000000000000000000000000","decoded":{"name":"approve","name":"transferFrom","name":"transfer",' +
  '"inputs":[{"name":"spender","type":"address","value":"0x"},{"name":"tokenId","type":"uint256","value":"0"},' +
  '{"name":"to","type":"address","value":"0x"},{"name":"value","type":"uint256","value":"1000000000000000000"}]},' +
  '"effective_gas_price":"0x","from":"0x","gas_price":"0x","gas_used":"0xc350","hash":"0x","index":0,"logs":[],' +
  '"logs":[{"address":"0x","data":"0x0000000000000000000000000000000000000000000000000000000000000000","topics":[' +
  '"0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",' +
  '"0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef","0x000000000000000000000000",' +
  '"0x000000000000000000000000"],"decoded":{"name":"Approval","name":"Transfer","inputs":[{"name":"from","type":"address",' +
  '"value":"0x"},{"name":"to","type":"address","value":"0x"},{"name":"value","type":"uint256","value":"0"}]}}],' +
  '"nonce":"0x","success":true,"to":"0x","transaction_type":"Sender","transaction_type":"Receiver","value":"0x0"}]}';

const ACTIVITIES =
  '{"activities":[{"chain_id":1,"block_number":20000000,"block_time":"2026-01-01T00:00:00+00:00","tx_hash":"0x",' +
  '"tx_from":"0x","tx_to":"0x","tx_value":"0","type":"approve","type":"mint","type":"burn","type":"swap","type":"call",' +
  '"type":"send","type":"receive","asset_type":"native","asset_type":"erc721","asset_type":"erc1155","asset_type":"erc20",' +
  '"token_address":"0x","id":"0","value":"1000000000000000000","token_metadata":{"symbol":"USDC","decimals":18,' +
  '"name":"USD Coin","logo":"https://","price_usd":0.9998,"pool_size":1000000,"standard":"erc20"},"value_usd":1.0,' +
  '"spender":"0x","to":"0x","from":"0x"},{"chain_id":1,"block_number":2';

/** What is nearest to the end is referred to with the fewest bits, so the most frequent bodies come last. */
export const DICTIONARY = Buffer.from(BALANCE_CHANGES + TRANSACTIONS + ACTIVITIES);
