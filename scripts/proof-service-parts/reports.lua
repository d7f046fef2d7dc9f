-- SPDX-License-Identifier: Apache-2.0
-- For wrk: each request is a report of its own, from a source of its own.

local body = io.open(os.getenv("TUMBLER_REPORT")):read("*a")
local from, to = body:find("HOST", 1, true)
local head, rest = body:sub(1, from - 1), body:sub(to + 1)
local count = 0

function request()
    count = count + 1
    local source = string.format("10.%d.%d.%d", count / 65536 % 256, count / 256 % 256, count % 256)
    return wrk.format("POST", "/v1/reports", {["Content-Type"] = "application/json", ["X-Forwarded-For"] = source},
        head .. "h" .. count .. ".example.com" .. rest)
end
