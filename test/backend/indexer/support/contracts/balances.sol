// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// What the ERC-20s below share. Their balances are not what their events sum up to.
abstract contract Odd {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(string memory name_) {
        (name, symbol) = (name_, name_);
    }
}

/// A rebase changes all balances without an event.
contract Rebasing is Odd {
    uint256 private shares;
    mapping(address => uint256) private sharesOf;
    uint256 private percent = 100;

    constructor(string memory name) Odd(name) {}

    function totalSupply() external view returns (uint256) {
        return (shares * percent) / 100;
    }

    function balanceOf(address account) external view returns (uint256) {
        return (sharesOf[account] * percent) / 100;
    }

    function mint(address to, uint256 value) external {
        shares += value;
        sharesOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 moved = (value * 100) / percent;
        sharesOf[msg.sender] -= moved;
        sharesOf[to] += moved;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function rebase(uint256 to) external {
        percent = to;
    }
}

/// A tenth of each transfer goes to its deployer, and the event conceals it.
contract Fee is Odd {
    address private immutable collector = msg.sender;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(string memory name) Odd(name) {}

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value - value / 10;
        balanceOf[collector] += value / 10;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Its deployer has the supply without an event.
contract Premint is Odd {
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(string memory name, uint256 supply) Odd(name) {
        (totalSupply, balanceOf[msg.sender]) = (supply, supply);
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}
