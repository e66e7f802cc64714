// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";

/// Contracts whose logs can be read in several ways.

/// Takes a coin. Its Deposit is WETH's to the letter, but mints nothing.
contract Staking {
    IERC20 private immutable coin;
    mapping(address => uint256) public staked;

    event Deposit(address indexed user, uint256 amount);
    event Withdrawal(address indexed user, uint256 amount);

    constructor(IERC20 coin_) {
        coin = coin_;
    }

    function deposit(uint256 amount) external {
        coin.transferFrom(msg.sender, address(this), amount);
        staked[msg.sender] += amount;
        emit Deposit(msg.sender, amount);
    }

    function withdraw(uint256 amount) external {
        staked[msg.sender] -= amount;
        coin.transfer(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
    }
}

/// A coin that logs Transfer, and Deposit when some of it is staked in it.
contract StakedCoin is ERC20 {
    event Deposit(address indexed user, uint256 amount);
    event Withdrawal(address indexed user, uint256 amount);

    constructor() ERC20("Staked", "STK") {}

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function stake(uint256 value) external {
        _transfer(msg.sender, address(this), value);
        emit Deposit(msg.sender, value);
    }

    function unstake(uint256 value) external {
        _transfer(address(this), msg.sender, value);
        emit Withdrawal(msg.sender, value);
    }
}

/// Holds native currency for several owners, and logs what comes in.
contract Multisig {
    event Deposit(address indexed sender, uint256 value);

    receive() external payable {
        emit Deposit(msg.sender, msg.value);
    }
}

/// A smart account that does what anyone says.
contract Account {
    receive() external payable {}

    function execute(address to, uint256 value, bytes calldata data) external payable {
        (bool done, ) = to.call{value: value}(data);
        require(done, "failed");
    }
}

/// NFTs some of whose mints are only logged.
contract Forged is ERC721 {
    constructor() ERC721("Forged", "FRG") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }

    function pretend(address to, uint256 id) external {
        emit Transfer(address(0), to, id);
    }
}

library CoinEvents {
    event Transfer(address indexed from, address indexed to, uint256 amount);
}

library NftEvents {
    event Transfer(address indexed from, address indexed to, uint256 indexed id);
}

library PlainEvents {
    event Transfer(address from, address to, uint256 number);
}

/// As ERC-404: every whole coin is an NFT as well.
contract Hybrid {
    string public constant name = "Hybrid";
    string public constant symbol = "HYB";
    uint8 public constant decimals = 18;
    uint256 private constant UNIT = 10 ** 18;
    bool private immutable nftsFirst;
    uint256 public totalSupply;
    uint256 public minted;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) private owners;
    mapping(address => uint256[]) private held;

    constructor(bool nftsFirst_) {
        nftsFirst = nftsFirst_;
    }

    function ownerOf(uint256 id) external view returns (address) {
        require(owners[id] != address(0), "none");
        return owners[id];
    }

    function mint(address to) external {
        minted += 1;
        totalSupply += UNIT;
        balanceOf[to] += UNIT;
        owners[minted] = to;
        held[to].push(minted);
        log(address(0), to, minted);
    }

    function transferOne(address to) external {
        balanceOf[msg.sender] -= UNIT;
        balanceOf[to] += UNIT;
        uint256[] storage own = held[msg.sender];
        uint256 id = own[own.length - 1];
        own.pop();
        owners[id] = to;
        held[to].push(id);
        log(msg.sender, to, id);
    }

    function burnOne() external {
        balanceOf[msg.sender] -= UNIT;
        totalSupply -= UNIT;
        uint256[] storage own = held[msg.sender];
        uint256 id = own[own.length - 1];
        own.pop();
        owners[id] = address(0);
        log(msg.sender, address(0), id);
    }

    function log(address from, address to, uint256 id) private {
        if (nftsFirst) emit NftEvents.Transfer(from, to, id);
        emit CoinEvents.Transfer(from, to, UNIT);
        if (!nftsFirst) emit NftEvents.Transfer(from, to, id);
    }
}

/// A coin whose events index too much, or nothing.
contract OldCoin {
    string public constant name = "Old Coin";
    string public constant symbol = "OLD";
    uint8 public constant decimals = 18;
    bool private immutable indexesAll;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(bool indexesAll_) {
        indexesAll = indexesAll_;
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        log(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        log(msg.sender, to, value);
        return true;
    }

    function log(address from, address to, uint256 value) private {
        if (indexesAll) emit NftEvents.Transfer(from, to, value);
        else emit PlainEvents.Transfer(from, to, value);
    }
}

/// NFTs of before the standard, as CryptoKitties: no topic of their events has an id.
contract OldNft {
    string public constant name = "Kitties";
    string public constant symbol = "CK";
    bool private immutable indexesSides;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) public kittyIndexToOwner;

    constructor(bool indexesSides_) {
        indexesSides = indexesSides_;
    }

    function ownerOf(uint256 id) external view returns (address owner) {
        owner = kittyIndexToOwner[id];
        require(owner != address(0), "none");
    }

    function mint(address to, uint256 id) external {
        require(kittyIndexToOwner[id] == address(0), "taken");
        totalSupply += 1;
        move(address(0), to, id);
    }

    function transfer(address to, uint256 id) external {
        require(kittyIndexToOwner[id] == msg.sender, "not yours");
        balanceOf[msg.sender] -= 1;
        move(msg.sender, to, id);
    }

    function move(address from, address to, uint256 id) private {
        kittyIndexToOwner[id] = to;
        balanceOf[to] += 1;
        if (indexesSides) emit CoinEvents.Transfer(from, to, id);
        else emit PlainEvents.Transfer(from, to, id);
    }
}

/// NFTs of which the first are minted in one range, when the contract is made.
contract Series is ERC721Consecutive {
    uint256 public next;

    constructor(address[] memory receivers, uint96 each) ERC721("Series", "SER") {
        for (uint256 at = 0; at < receivers.length; at++) _mintConsecutive(receivers[at], each);
        next = receivers.length * each;
    }

    function mint(address to) external {
        _mint(to, next++);
    }

    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }
}

/// CryptoPunks, with their fault: PunkBought does not name who has bid.
contract Punks {
    string public constant name = "CRYPTOPUNKS";
    string public constant symbol = "PUNK";
    uint8 public constant decimals = 0;
    uint256 public constant totalSupply = 10000;
    mapping(uint256 => address) public punkIndexToAddress;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) private bidders;

    event Assign(address indexed to, uint256 punkIndex);
    event Transfer(address indexed from, address indexed to, uint256 value);
    event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex);
    event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress);

    function getPunk(uint256 index) external {
        require(punkIndexToAddress[index] == address(0), "taken");
        punkIndexToAddress[index] = msg.sender;
        balanceOf[msg.sender] += 1;
        emit Assign(msg.sender, index);
    }

    function transferPunk(address to, uint256 index) external {
        move(to, index);
        emit PunkTransfer(msg.sender, to, index);
    }

    function buyPunk(uint256 index) external payable {
        address seller = punkIndexToAddress[index];
        punkIndexToAddress[index] = msg.sender;
        balanceOf[seller] -= 1;
        balanceOf[msg.sender] += 1;
        emit Transfer(seller, msg.sender, 1);
        emit PunkBought(index, msg.value, seller, msg.sender);
    }

    function enterBidForPunk(uint256 index) external payable {
        bidders[index] = msg.sender;
    }

    function acceptBidForPunk(uint256 index) external {
        move(bidders[index], index);
        bidders[index] = address(0);
        emit PunkBought(index, 0, msg.sender, bidders[index]);
    }

    function move(address to, uint256 index) private {
        require(punkIndexToAddress[index] == msg.sender && to != address(0), "not yours");
        punkIndexToAddress[index] = to;
        balanceOf[msg.sender] -= 1;
        balanceOf[to] += 1;
        emit Transfer(msg.sender, to, 1);
    }
}
