// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
import {ERC1967Utils} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Utils.sol";

/// Contracts whose methods, events and errors are the same but for the names of their parameters, and what calls them.

contract Shop {
    uint256 private immutable limit;

    event Changed(address indexed who, uint256 price);
    error TooMuch(uint256 price, uint256 limit);

    constructor(uint256 limit_) {
        limit = limit_;
    }

    function change(uint256 price) external {
        if (price > limit) revert TooMuch(price, limit);
        emit Changed(msg.sender, price);
    }
}

contract Dial {
    uint256 public turns;

    event Changed(address indexed who, uint256 level);
    error TooMuch(uint256 level, uint256 top);

    function change(uint256 level) external {
        if (level > 10) revert TooMuch(level, 10);
        turns += 1;
        emit Changed(msg.sender, level);
    }
}

contract Knob {
    event Changed(address indexed who, uint256 angle);

    function change(uint256 angle) external {
        emit Changed(msg.sender, angle % 360);
    }
}

/// Passes on what a contract reverts with that it calls.
contract Caller {
    error TooMuch(uint256 value, uint256 most);

    function changeOf(Dial dial, uint256 value) external {
        if (value == 0) revert TooMuch(0, 0);
        dial.change(value);
    }
}

contract Upgradable is ERC1967Proxy {
    constructor(address implementation) ERC1967Proxy(implementation, "") {}

    function _unsafeAllowUninitialized() internal pure override returns (bool) {
        return true;
    }

    function upgrade(address implementation) external {
        ERC1967Utils.upgradeToAndCall(implementation, "");
    }
}

contract Cloner {
    address public made;

    function make(address implementation) external {
        made = Clones.clone(implementation);
    }
}
