-- Skipstone in Wireshark and tshark (4.0 or later), written from WIRE.md; section numbers refer to that page. Plain
-- packets are dissected down to their messages, encrypted ones down to their cleartext fields.
--
--   tshark -X lua_script:wireshark/skipstone.lua -r run-a.pcap -d udp.port==7777,skipstone
--
-- A capture that begins with the handshake needs no -d: it is recognised by its HELLO.

local skipstone = Proto("skipstone", "Skipstone transport")

local KINDS = {
    [0x80] = "PACKET", [0x81] = "HELLO", [0x82] = "CHALLENGE", [0x83] = "OPEN", [0x84] = "CRYPTO",
    [0x85] = "VERSIONS", [0x86] = "REFUSE", [0x87] = "QUERY", [0x88] = "ANSWER", [0x89] = "RESET",
}
local FRAMES = {
    [0x00] = "PADDING", [0x01] = "PING", [0x02] = "ACK", [0x03] = "ACK_WINDOW", [0x04] = "CONNECT", [0x05] = "ACCEPT",
    [0x06] = "CLOSE", [0x07] = "CLOSED", [0x08] = "REPAIRED", [0x09] = "REPAIR", [0x0a] = "LATE",
    [0x0b] = "PATH_CHALLENGE", [0x0c] = "PATH_RESPONSE", [0x0d] = "TIME_REQUEST", [0x0e] = "TIME_RESPONSE",
    [0x0f] = "NEW_ID",
}
local SUITES = { [1] = "plain", [8] = "TLS 1.3" }
local SETTINGS = {
    [1] = "idle timeout, ms", [2] = "keepalive, ms", [3] = "ack delay, us", [4] = "largest message, bytes",
    [5] = "window, bytes", [6] = "largest datagram, bytes", [7] = "channel rules", [8] = "merging",
    [9] = "redundancy", [10] = "greatest ack delay, us",
}
local MODES = {
    [0] = "unreliable", "unreliable-sequenced", "reliable-ordered", "reliable-unordered", "reliable-sequenced",
}

local f = {
    kind = ProtoField.uint8("skipstone.kind", "Kind", base.HEX, KINDS),
    to = ProtoField.bytes("skipstone.to", "Receiver's connection id", base.NONE),
    source = ProtoField.bytes("skipstone.source", "Sender's connection id", base.NONE),
    nonce = ProtoField.bytes("skipstone.nonce", "Nonce", base.NONE),
    offer = ProtoField.bytes("skipstone.offer", "Offer", base.NONE),
    suites = ProtoField.uint8("skipstone.suites", "Suites offered", base.HEX),
    version = ProtoField.uint16("skipstone.version", "Version"),
    suite = ProtoField.uint8("skipstone.suite", "Suite", base.DEC, SUITES),
    cookie = ProtoField.bytes("skipstone.cookie", "Cookie", base.NONE),
    handshake = ProtoField.bytes("skipstone.handshake", "Bytes of the handshake", base.NONE),
    sealed = ProtoField.bytes("skipstone.sealed", "Sealed packet", base.NONE),
    counter = ProtoField.uint32("skipstone.counter", "Sealing counter, low 32 bits"),
    tag = ProtoField.bytes("skipstone.tag", "Tag", base.NONE),
    check = ProtoField.uint32("skipstone.check", "Check (CRC-32)", base.HEX),
    number = ProtoField.uint64("skipstone.number", "Packet number"),
    bits = ProtoField.uint8("skipstone.number.bits", "Bits of it that were sent"),
    type = ProtoField.uint8("skipstone.frame", "Type", base.HEX),
    name = ProtoField.string("skipstone.frame.name", "Frame"),
    largest = ProtoField.uint64("skipstone.ack.largest", "Largest"),
    delay = ProtoField.uint64("skipstone.ack.delay", "Delay, us"),
    range = ProtoField.string("skipstone.ack.range", "Packets"),
    window = ProtoField.uint64("skipstone.ack.window", "Window, bytes"),
    token = ProtoField.bytes("skipstone.token", "Token", base.NONE),
    setting = ProtoField.string("skipstone.setting", "Setting"),
    code = ProtoField.uint64("skipstone.code", "Code"),
    reason = ProtoField.string("skipstone.reason", "Reason", base.UNICODE),
    index = ProtoField.uint8("skipstone.repair.index", "Index"),
    covered = ProtoField.string("skipstone.repair.covers", "Covers"),
    symbol = ProtoField.bytes("skipstone.repair.symbol", "Symbol", base.NONE),
    age = ProtoField.uint64("skipstone.late.age", "Age, ms"),
    proof = ProtoField.bytes("skipstone.path", "Random bytes", base.NONE),
    sent_us = ProtoField.uint64("skipstone.time.sent", "Client's clock, us"),
    server_us = ProtoField.uint64("skipstone.time.server", "Server's clock, us"),
    held_us = ProtoField.uint64("skipstone.time.held", "Held, us"),
    id_sequence = ProtoField.uint64("skipstone.id.sequence", "Id's sequence"),
    new_id = ProtoField.bytes("skipstone.id", "New connection id", base.NONE),
    body = ProtoField.bytes("skipstone.extension", "Body", base.NONE),
    channel = ProtoField.uint16("skipstone.channel", "Channel"),
    sequence = ProtoField.uint32("skipstone.sequence", "Sequence, its low bits"),
    offset = ProtoField.uint32("skipstone.fragment.offset", "Fragment's offset"),
    total = ProtoField.uint32("skipstone.fragment.total", "Message's length"),
    payload = ProtoField.bytes("skipstone.payload", "Payload", base.NONE),
    answer = ProtoField.bytes("skipstone.answer", "Answer", base.NONE),
}
skipstone.fields = f

local malformed = ProtoExpert.new("skipstone.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
skipstone.experts = { malformed }

skipstone.prefs.unknown = Pref.enum("Packets without a handshake", 1,
    "What packets are taken for whose handshake is not in the capture",
    { { 1, "plain", 1 }, { 2, "encrypted", 2 } }, false)

-- Reading, section 1. A field that exceeds the end ends the dissection.

local Malformed = {}

local function require_that(holds)
    if not holds then error(Malformed, 0) end
end

local Reader = {}
Reader.__index = Reader

local function reader(tvb, at, stop)
    return setmetatable({ tvb = tvb, at = at, stop = stop }, Reader)
end

function Reader:left() return self.stop - self.at end

function Reader:take(count)
    require_that(count <= self:left())
    self.at = self.at + count
    -- Wireshark has no empty range.
    return count > 0 and self.tvb(self.at - count, count) or nil
end

function Reader:uint(size) return self:take(size):uint() end

function Reader:peek() return self.tvb(self.at, 1):uint() end

-- The value, and its range.
function Reader:varint(below)
    require_that(self:left() >= 1)
    local start = self.at
    local length = 2 ^ math.floor(self:peek() / 64)
    local bytes = self:take(length)
    local value = bytes:range(0, 1):uint() % 64
    for at = 1, length - 1 do value = value * 256 + bytes:range(at, 1):uint() end
    -- The maximum of 62 bits is rounded up here, and no varint is greater.
    require_that(not below or value < below)
    return value, self.tvb(start, length)
end

function Reader:truncated()
    require_that(self:left() >= 1)
    local start, first = self.at, self:uint(1)
    local bits, value
    if first == 0xf0 then
        bits, value = 32, self:uint(4)
    else
        require_that(first < 0xf0)
        local more = first < 0x80 and 0 or first < 0xc0 and 1 or first < 0xe0 and 2 or 3
        bits, value = 7 * (more + 1), first % 2 ^ (7 - more)
        for _ = 1, more do value = value * 256 + self:uint(1) end
    end
    return { value = value, bits = bits, bytes = self.tvb(start, self.at - start) }
end

-- The number with these low bits that is nearest to the reference; packet numbers are not negative.
local function nearest(number, reference)
    local period = 2 ^ number.bits
    local base = math.floor(reference / period) * period + number.value
    local found
    for _, candidate in ipairs { base - period, base, base + period } do
        local distance = math.abs(candidate - reference)
        if candidate >= 0 and (not found or distance <= math.abs(found - reference)) then found = candidate end
    end
    return found
end

local function u64(value) return UInt64(value % 2 ^ 32, math.floor(value / 2 ^ 32)) end

local function add(tree, field, bytes, value)
    if type(value) == "number" then value = math.floor(value) end
    return bytes and tree:add(field, bytes, value)
end

local function add64(tree, field, bytes, value) return tree:add(field, bytes, u64(value)) end

-- State: the suite of a pair of addresses, and the highest packet number of each direction. A capture is read in order
-- once; the results are kept for the times that a packet is shown again.

local suites, greatest, kept = {}, {}, {}

function skipstone.init() suites, greatest, kept = {}, {}, {} end

local function flow(pinfo)
    local from = tostring(pinfo.src) .. " " .. pinfo.src_port
    local to = tostring(pinfo.dst) .. " " .. pinfo.dst_port
    return { way = from .. " > " .. to, back = to .. " > " .. from, pair = from < to and from .. to or to .. from }
end

local function remembered(pinfo, made)
    -- One frame of the capture may contain several datagrams.
    kept[pinfo.number] = kept[pinfo.number] or made()
    return kept[pinfo.number]
end

local function id(tree, field, r)
    local bytes = r:take(3)
    require_that(bytes:uint() ~= 0)
    tree:add(field, bytes)
end

-- Settings, section 5.

local function settings(tree, r)
    local last = -1
    while r:left() > 0 do
        local start = r.at
        local number = r:varint()
        require_that(number > last)
        last = number
        local length = r:varint()
        local stop = r.at + length
        require_that(stop <= r.stop)
        local value = reader(r.tvb, r.at, stop)
        local name = SETTINGS[number] or ("unknown " .. math.floor(number))
        local item
        if number == 7 then
            item = tree:add(f.setting, r.tvb(start, stop - start), name)
            while value:left() > 0 do
                local first, upto = value:varint(65536), value:varint(65536)
                local mode, priority, weight, overflow, flags =
                    value:uint(1), value:uint(1), value:uint(1), value:uint(1), value:uint(1)
                require_that(first <= upto and mode <= 4 and weight >= 1 and overflow <= 2 and flags <= 3)
                local messages, bytes = value:varint(2 ^ 32), value:varint(2 ^ 32)
                if flags >= 2 then
                    local redundancy = value:uint(1)
                    value:take(redundancy == 3 and 2 or redundancy == 4 and 1 or 0)
                end
                item:add(f.setting, r.tvb(start, stop - start), string.format(
                    "channels %d to %d: %s, priority %d, weight %d, queue of %d messages and %d bytes",
                    first, upto, MODES[mode], priority, weight, messages, bytes))
            end
        elseif SETTINGS[number] and number ~= 9 then
            local found = value:varint()
            require_that(value:left() == 0)
            item = tree:add(f.setting, r.tvb(start, stop - start), string.format("%s: %.0f", name, found))
        else
            tree:add(f.setting, r.tvb(start, stop - start), name)
        end
        r.at = stop
    end
end

-- Frames, section 4.

-- Without packets of the other direction the numbers may be too small, and none is checked.
local function ranges(tree, field, r, high, is_known)
    local start, count, told = r.at, r:varint(32), {}
    for at = 0, count do
        if at > 0 then high = high - r:varint() - 2 end
        local low = high - r:varint()
        require_that(low >= 0 or not is_known)
        told[#told + 1] = low == high and string.format("%.0f", low) or string.format("%.0f-%.0f", low, high)
        high = low
    end
    tree:add(field, r.tvb(start, r.at - start), table.concat(told, " "))
    return table.concat(told, " ")
end

local function acknowledged(tree, r, reference, has_delay)
    local number = r:truncated()
    require_that(number.bits >= 14)
    local largest = nearest(number, reference or 0)
    add64(tree, f.largest, number.bytes, largest)
    if has_delay then
        local delay, bytes = r:varint()
        add64(tree, f.delay, bytes, delay)
    end
    return ranges(tree, f.range, r, largest, reference ~= nil)
end

local function prefixed(tree, field, r, most)
    local bytes = r:take(r:varint(most + 1))
    if bytes then tree:add(field, bytes) end
    return bytes
end

local function message(tree, r, flags, before)
    local channel, told, sequence = before.channel or 0, "", nil
    local function has(flag) return math.floor(flags / flag) % 2 == 1 end
    if has(0x40) then
        local value, bytes = r:varint(65536)
        channel = value
        add(tree, f.channel, bytes, channel)
    else
        tree:add(f.channel, math.floor(channel)):set_generated()
    end
    if has(0x20) then
        local number = r:truncated()
        sequence = number.value
        add(tree, f.sequence, number.bytes, sequence)
    elseif before.sequence and not has(0x40) then
        sequence = before.sequence + 1
        tree:add(f.sequence, math.floor(sequence % 2 ^ 32)):set_generated()
    end
    if has(0x10) then
        local offset, bytes = r:varint(2 ^ 32)
        add(tree, f.offset, bytes, offset)
        local total, more = r:varint(2 ^ 32)
        add(tree, f.total, more, total)
        told = string.format(" fragment at %.0f of %.0f", offset, total)
        before.fragment = { offset = offset, total = total }
    else
        before.fragment = nil
    end
    local form, length = flags % 16, nil
    if form <= 12 then length = form
    elseif form == 13 then
        require_that(before.length)
        length = before.length
    elseif form == 14 then length = r:varint()
    else length = r:left() end
    local payload = r:take(length)
    if payload then tree:add(f.payload, payload) end
    if before.fragment then
        require_that(sequence and length > 0 and length < before.fragment.total)
        require_that(before.fragment.offset + length <= before.fragment.total)
    end
    before.channel, before.sequence, before.length = channel, sequence, length
    local numbered = sequence and string.format(" #%.0f", sequence) or ""
    return string.format("channel %.0f%s, %.0f bytes%s", channel, numbered, length, told)
end

local READ = {
    [0x02] = function(tree, r, _, back) return acknowledged(tree, r, back, true) end,
    [0x03] = function(tree, r, _, back)
        local told = acknowledged(tree, r, back, true)
        local window, bytes = r:varint()
        add64(tree, f.window, bytes, window)
        return told
    end,
    [0x04] = function(tree, r)
        prefixed(tree, f.token, r, 1024)
        local length = r:varint()
        require_that(length <= r:left())
        settings(tree, reader(r.tvb, r.at, r.at + length))
        r:take(length)
    end,
    [0x05] = function(tree, r)
        id(tree, f.source, r)
        local length = r:varint()
        require_that(length <= r:left())
        settings(tree, reader(r.tvb, r.at, r.at + length))
        r:take(length)
    end,
    [0x06] = function(tree, r)
        local code, bytes = r:varint()
        add64(tree, f.code, bytes, code)
        prefixed(tree, f.reason, r, 512)
        return string.format("code %.0f", code)
    end,
    [0x08] = function(tree, r, _, back) return acknowledged(tree, r, back, false) end,
    [0x09] = function(tree, r, number)
        local at = r:take(1)
        require_that(at:uint() <= 63)
        tree:add(f.index, at)
        local below = r:varint()
        require_that(below >= 1 and below <= number)
        local told = ranges(tree, f.covered, r, number - below, true)
        require_that(r:left() >= 7)
        tree:add(f.symbol, r:take(r:left()))
        return "of " .. told
    end,
    [0x0a] = function(tree, r)
        local age, bytes = r:varint()
        add64(tree, f.age, bytes, age)
        return string.format("%.0f ms", age)
    end,
    [0x0b] = function(tree, r) tree:add(f.proof, r:take(8)) end,
    [0x0c] = function(tree, r) tree:add(f.proof, r:take(8)) end,
    [0x0d] = function(tree, r)
        local value, bytes = r:varint()
        add64(tree, f.sent_us, bytes, value)
    end,
    [0x0e] = function(tree, r)
        for _, field in ipairs { f.sent_us, f.server_us, f.held_us } do
            local value, bytes = r:varint()
            add64(tree, field, bytes, value)
        end
    end,
    [0x0f] = function(tree, r)
        local value, bytes = r:varint()
        add64(tree, f.id_sequence, bytes, value)
        id(tree, f.new_id, r)
    end,
}

-- All frames of a packet; returns their names with details for a column.
local function frames(tree, r, number, back)
    local before, told = {}, {}
    while r:left() > 0 do
        local start, kind = r.at, r:uint(1)
        local name = kind >= 0x80 and "MESSAGE" or kind >= 0x40 and "EXTENSION" or FRAMES[kind]
        require_that(name)
        local item = tree:add(f.name, r.tvb(start, 1), name)
        item:add(f.type, r.tvb(start, 1))
        local words
        if kind >= 0x80 then
            words = message(item, r, kind, before)
        elseif kind >= 0x40 then
            prefixed(item, f.body, r, 2 ^ 32)
        elseif kind == 0x00 then
            while r:left() > 0 and r:peek() == 0 do r:take(1) end
        elseif READ[kind] then
            words = READ[kind](item, r, number, back)
        end
        item:set_len(r.at - start)
        if words then item:append_text(": " .. words) end
        told[#told + 1] = kind >= 0x80 and "MESSAGE " .. words or words and name .. " " .. words or name
    end
    return told
end

-- Datagrams, sections 2 and 3.

local function packet(tree, r, pinfo, is_plain)
    local found = flow(pinfo)
    if not is_plain then
        require_that(r:left() >= 20)
        local sealed = r:take(r:left() - 20)
        if sealed then tree:add(f.sealed, sealed) end
        tree:add(f.tag, r:take(16))
        tree:add(f.counter, r:take(4))
        return "encrypted"
    end
    require_that(r:left() >= 8)
    r.stop = r.stop - 8
    local sent = r:truncated()
    local numbers = remembered(pinfo, function()
        local number = nearest(sent, greatest[found.way] or 0)
        greatest[found.way] = math.max(greatest[found.way] or 0, number + 1)
        return { number = number, back = greatest[found.back] }
    end)
    add64(tree, f.number, sent.bytes, numbers.number)
    tree:add(f.bits, sent.bytes, sent.bits):set_generated()
    local told = frames(tree, r, numbers.number, numbers.back)
    r.stop = r.stop + 8
    tree:add(f.tag, r:take(8))
    local shown = table.concat(told, "; ", 1, math.min(#told, 4)) .. (#told > 4 and string.format("; and %d more", #told - 4) or "")
    return string.format("%.0f  %s", numbers.number, shown)
end

local function versions(tree, r)
    local count = r:uint(1)
    require_that(count >= 1)
    for _ = 1, count do tree:add(f.version, r:take(2)) end
end

local function offer(tree, r)
    local length = r:uint(1)
    require_that(length <= r:left())
    local inner = reader(r.tvb, r.at, r.at + length)
    if length > 0 then tree:add(f.offer, r.tvb(r.at, length)) end
    tree:add(f.suites, inner:take(1))
    versions(tree, inner)
    r:take(length)
end

local function suite(tree, r, pinfo)
    local bytes = r:take(1)
    require_that(SUITES[bytes:uint()])
    tree:add(f.suite, bytes)
    suites[flow(pinfo).pair] = bytes:uint()
    return bytes:uint()
end

local DATAGRAMS = {
    [0x80] = function(tree, r, pinfo)
        local known = suites[flow(pinfo).pair]
        local is_plain = known == 1 or (known == nil and skipstone.prefs.unknown == 1)
        return packet(tree, r, pinfo, is_plain)
    end,
    [0x81] = function(tree, r)
        require_that(r.stop >= 60 and r:take(4):string() == "SKIP")
        id(tree, f.source, r)
        tree:add(f.nonce, r:take(8))
        offer(tree, r)
    end,
    [0x82] = function(tree, r, pinfo)
        tree:add(f.nonce, r:take(8))
        tree:add(f.version, r:take(2))
        suite(tree, r, pinfo)
        tree:add(f.cookie, r:take(20))
        require_that(r:left() == 0)
    end,
    [0x83] = function(tree, r, pinfo)
        id(tree, f.source, r)
        tree:add(f.nonce, r:take(8))
        tree:add(f.version, r:take(2))
        local chosen = suite(tree, r, pinfo)
        tree:add(f.cookie, r:take(20))
        offer(tree, r)
        if chosen == 1 then return packet(tree, r, pinfo, true) end
        if r:left() > 0 then tree:add(f.handshake, r:take(r:left())) end
    end,
    [0x84] = function(tree, r)
        id(tree, f.source, r)
        if r:left() > 0 then tree:add(f.handshake, r:take(r:left())) end
    end,
    [0x85] = function(tree, r)
        tree:add(f.nonce, r:take(8))
        versions(tree, r)
        require_that(r:left() == 0)
    end,
    [0x86] = function(tree, r)
        tree:add(f.nonce, r:take(8))
        local code, bytes = r:varint()
        add64(tree, f.code, bytes, code)
        prefixed(tree, f.reason, r, 512)
        require_that(r:left() == 0)
        return string.format("code %.0f", code)
    end,
    [0x87] = function(tree, r)
        require_that(r.stop >= 60 and r:take(4):string() == "SKIP")
        tree:add(f.nonce, r:take(8))
    end,
    [0x88] = function(tree, r)
        tree:add(f.nonce, r:take(8))
        versions(tree, r)
        if r:left() > 0 then tree:add(f.answer, r:take(r:left())) end
    end,
    [0x89] = function(_, r) require_that(r:left() == 0) end,
}
-- The receiver has no id yet.
local WITHOUT_ID = { [0x81] = true, [0x83] = true, [0x87] = true, [0x88] = true }

function skipstone.dissector(tvb, pinfo, tree)
    local kind = tvb:len() >= 4 and tvb(0, 1):uint()
    if not kind or not KINDS[kind] then return 0 end
    pinfo.cols.protocol = "Skipstone"
    local root = tree:add(skipstone, tvb())
    root:append_text(", " .. KINDS[kind])
    root:add(f.kind, tvb(0, 1))
    root:add(f.to, tvb(1, 3))
    local told
    local is_read, wrong = pcall(function()
        require_that(not WITHOUT_ID[kind] or tvb(1, 3):uint() == 0)
        local stop = tvb:len()
        if kind ~= 0x80 then
            require_that(stop >= 8)
            stop = stop - 4
            root:add(f.check, tvb(stop, 4))
        end
        told = DATAGRAMS[kind](root, reader(tvb, 4, stop), pinfo)
    end)
    if not is_read then
        root:add_proto_expert_info(malformed)
        -- An error of this script is reported as one.
        told = wrong == Malformed and "malformed" or "dissector's error: " .. tostring(wrong)
    end
    pinfo.cols.info = told and KINDS[kind] .. "  " .. told or KINDS[kind]
    return tvb:len()
end

-- A HELLO identifies itself, and the whole conversation is Skipstone's.
local function is_ours(tvb, pinfo, tree)
    if tvb:len() < 60 or tvb(0, 1):uint() ~= 0x81 or tvb(4, 4):string() ~= "SKIP" then return false end
    pinfo.conversation = skipstone
    skipstone.dissector(tvb, pinfo, tree)
    return true
end

skipstone:register_heuristic("udp", is_ours)
DissectorTable.get("udp.port"):add_for_decode_as(skipstone)
