// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";

/// An ERC-20 that anyone may mint.
contract Coin is ERC20Burnable {
    uint8 private immutable places;

    constructor(string memory name, string memory symbol, uint8 decimals_) ERC20(name, symbol) {
        places = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return places;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }
}

/// The native asset as an ERC-20. Like WETH, it reports deposits and withdrawals without transfers.
contract WrappedNative {
    string public constant name = "Wrapped Ether";
    string public constant symbol = "WETH";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed dst, uint256 wad);
    event Withdrawal(address indexed src, uint256 wad);

    receive() external payable {
        deposit();
    }

    function totalSupply() external view returns (uint256) {
        return address(this).balance;
    }

    function deposit() public payable {
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 wad) external {
        balanceOf[msg.sender] -= wad;
        (bool paid, ) = msg.sender.call{value: wad}("");
        require(paid, "not paid");
        emit Withdrawal(msg.sender, wad);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}

/// An ERC-721 that anyone may mint, each token with a URI of its own.
contract Art is ERC721URIStorage, ERC721Burnable {
    constructor(string memory name, string memory symbol) ERC721(name, symbol) {}

    function mint(address to, uint256 tokenId, string calldata uri) external {
        _mint(to, tokenId);
        _setTokenURI(tokenId, uri);
    }

    function tokenURI(uint256 tokenId) public view override(ERC721, ERC721URIStorage) returns (string memory) {
        return super.tokenURI(tokenId);
    }

    function supportsInterface(bytes4 id) public view override(ERC721, ERC721URIStorage) returns (bool) {
        return super.supportsInterface(id);
    }
}

/// An ERC-1155 that anyone may mint. Its URI may have an {id}.
contract Items is ERC1155Burnable {
    constructor(string memory uri) ERC1155(uri) {}

    function mint(address to, uint256 id, uint256 value) external {
        _mint(to, id, value, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata values) external {
        _mintBatch(to, ids, values, "");
    }
}

/// Swaps two tokens at the price of its reserves, which are what was transferred to it, without a fee.
contract Pool {
    IERC20 public immutable token0;
    IERC20 public immutable token1;

    event Swap(address indexed sender, address indexed sold, uint256 amountIn, uint256 amountOut);

    constructor(IERC20 a, IERC20 b) {
        (token0, token1) = (a, b);
    }

    /// Takes `amountIn` of `sold`, which must be approved, and pays in the other token.
    function swap(IERC20 sold, uint256 amountIn) external returns (uint256 amountOut) {
        IERC20 bought = sold == token0 ? token1 : token0;
        uint256 reserveIn = sold.balanceOf(address(this));
        amountOut = (bought.balanceOf(address(this)) * amountIn) / (reserveIn + amountIn);
        sold.transferFrom(msg.sender, address(this), amountIn);
        bought.transfer(msg.sender, amountOut);
        emit Swap(msg.sender, address(sold), amountIn, amountOut);
    }
}

/// Pays the native assets that it receives on to others, by internal calls.
contract Payer {
    /// The last one gets what is left.
    function split(address[] calldata to) external payable {
        for (uint256 at = 0; at < to.length; at++) {
            uint256 value = at + 1 == to.length ? address(this).balance : msg.value / to.length;
            (bool paid, ) = to[at].call{value: value}("");
            require(paid, "not paid");
        }
    }

    /// Pays within a call that is reverted, so that nothing is paid, and keeps the value.
    function payInVain(address to) external payable {
        try this.payAndRevert{value: msg.value}(to) {} catch {}
    }

    function payAndRevert(address to) external payable {
        (bool paid, ) = to.call{value: msg.value}("");
        require(!paid, "reverted on purpose");
    }

    /// Leaves the chain's state, with its whole balance going to `to`.
    function leave(address payable to) external payable {
        selfdestruct(to);
    }
}

/// Creates contracts, as factories do.
contract Creator {
    event Created(address created);

    function create(string calldata name, string calldata symbol) external payable {
        emit Created(address(new Coin(name, symbol, 6)));
    }

    function create2(bytes32 salt) external payable {
        emit Created(address(new Payer{salt: salt}()));
    }
}

/// The part of Multicall3 that reads: https://www.multicall3.com.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 at = 0; at < calls.length; at++) {
            (bool success, bytes memory data) = calls[at].target.call(calls[at].callData);
            require(success || calls[at].allowFailure, "Multicall3: call failed");
            returnData[at] = Result(success, data);
        }
    }
}
