// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A registry of names and their records, as ENS has them, which anyone may write.

contract NameRegistry {
    mapping(bytes32 => address) public resolver;

    event NewResolver(bytes32 indexed node, address resolver);

    function setResolver(bytes32 node, address resolver_) external {
        resolver[node] = resolver_;
        emit NewResolver(node, resolver_);
    }
}

contract NameResolver {
    mapping(bytes32 => string) public name;
    mapping(bytes32 => address) public addr;

    event NameChanged(bytes32 indexed node, string name);
    event AddrChanged(bytes32 indexed node, address a);

    function setName(bytes32 node, string calldata name_) external {
        name[node] = name_;
        emit NameChanged(node, name_);
    }

    /// Changes a record, and tells nobody.
    function setSilently(bytes32 node, string calldata name_) external {
        name[node] = name_;
    }

    function setAddr(bytes32 node, address a) external {
        addr[node] = a;
        emit AddrChanged(node, a);
    }
}

/// Has its records elsewhere: EIP-3668.
contract OffchainResolver {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    fallback() external {
        string[] memory urls = new string[](1);
        urls[0] = "https://example.com/{sender}/{data}";
        revert OffchainLookup(address(this), urls, msg.data, bytes4(0), "");
    }
}
