// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// An ERC-20 whose transfers are honest, and which answers any other call as it was told to, with a revert by default.
contract Liar {
    /// What a call is answered with.
    enum Kind {
        None,
        /// Returns the bytes as they are.
        Bytes,
        /// Reverts with the bytes.
        Revert,
        /// Runs until the gas is gone.
        Gas,
        /// Calls its caller and itself again, as deep as the gas allows, and then returns the bytes.
        Reenter,
        /// Returns as many bytes as the bytes say, an ABI-encoded number: a string of that length.
        Long
    }

    struct Answer {
        Kind kind;
        bytes data;
    }

    mapping(bytes4 => Answer) private answers;
    mapping(address => uint256) private balances;
    uint256 public totalSupply;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function lie(bytes4 selector, Kind kind, bytes calldata data) external {
        answers[selector] = Answer(kind, data);
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balances[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balances[msg.sender] -= value;
        balances[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Reports a transfer that moves nothing.
    function pretend(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }

    /// Emits any log.
    function report(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        assembly {
            let at := add(copy, 32)
            let size := mload(copy)
            let first := topics.offset
            switch topics.length
            case 0 { log0(at, size) }
            case 1 { log1(at, size, calldataload(first)) }
            case 2 { log2(at, size, calldataload(first), calldataload(add(first, 32))) }
            case 3 {
                log3(at, size, calldataload(first), calldataload(add(first, 32)), calldataload(add(first, 64)))
            }
            default {
                log4(
                    at,
                    size,
                    calldataload(first),
                    calldataload(add(first, 32)),
                    calldataload(add(first, 64)),
                    calldataload(add(first, 96))
                )
            }
        }
    }

    function balanceOf(address account) external returns (uint256) {
        if (answers[msg.sig].kind != Kind.None) answer();
        return balances[account];
    }

    fallback() external payable {
        answer();
    }

    /// Ends the call.
    function answer() private {
        Kind kind = answers[msg.sig].kind;
        bytes memory data = answers[msg.sig].data;
        if (kind == Kind.Gas) while (true) {}
        if (kind == Kind.Reenter) {
            (bool first, ) = msg.sender.call(msg.data);
            (bool second, ) = address(this).call(msg.data);
            first = second;
        }
        if (kind == Kind.Long) {
            uint256 length = abi.decode(data, (uint256));
            assembly {
                mstore(0, 32)
                mstore(32, length)
                return(0, add(64, length))
            }
        }
        assembly {
            if or(eq(kind, 0), eq(kind, 2)) { revert(add(data, 32), mload(data)) }
            return(add(data, 32), mload(data))
        }
    }
}
