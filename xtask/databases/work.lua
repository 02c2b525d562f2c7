-- The statements of `skipstone db bench`, prepared, for sysbench over MariaDB.

sysbench.cmdline.options = { work = {"seek, update, add, rank or rank_indexed", "seek"}, records = {"Accounts", 50000} }

local COLUMNS = "id, name, score, rating, balance"
local SQL = {
  seek = "SELECT " .. COLUMNS .. " FROM skipstone_accounts WHERE id = ?",
  update = "UPDATE skipstone_accounts SET score = ?, rating = ?, balance = balance + ? WHERE id = ?",
  add = "INSERT INTO skipstone_accounts (" .. COLUMNS .. ") VALUES (?, ?, ?, ?, ?)",
  rank = "SELECT " .. COLUMNS .. " FROM skipstone_accounts ORDER BY score DESC, id DESC LIMIT ?",
  rank_indexed = "SELECT " .. COLUMNS .. " FROM skipstone_accounts FORCE INDEX FOR ORDER BY (skipstone_accounts_rating) ORDER BY rating DESC, id DESC LIMIT ?",
}
local COUNT = { seek = 1, update = 4, add = 5, rank = 1, rank_indexed = 1 }

function thread_init()
  work, records = sysbench.opt.work, sysbench.opt.records
  connection = sysbench.sql.driver():connect()
  statement = connection:prepare(SQL[work])
  bound = {}
  for at = 1, COUNT[work] do
    local is_name = work == "add" and at == 2
    bound[at] = is_name and statement:bind_create(sysbench.sql.type.VARCHAR, 12)
      or statement:bind_create(sysbench.sql.type.BIGINT)
  end
  statement:bind_param(unpack(bound))
  next_id = (os.time() % 1000000) * 1000000000 + (sysbench.tid + 1) * 10000000
end

local function points() return sysbench.rand.uniform(0, 999999) end

function event()
  if work == "seek" then
    bound[1]:set(sysbench.rand.uniform(1, records))
  elseif work == "update" then
    bound[1]:set(points())
    bound[2]:set(points())
    bound[3]:set(sysbench.rand.uniform(0, 999) - 500)
    bound[4]:set(sysbench.rand.uniform(1, records))
  elseif work == "add" then
    next_id = next_id + 1
    bound[1]:set(next_id)
    bound[2]:set("banafodo")
    bound[3]:set(points())
    bound[4]:set(points())
    bound[5]:set(points() % 100000)
  else
    bound[1]:set(1000)
  end
  statement:execute()
end

function thread_done()
  statement:close()
  connection:disconnect()
end
