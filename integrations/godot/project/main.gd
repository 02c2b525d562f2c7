extends Node
# Serves with `-- --server`, and writes its URL to a file; else connects to the URL in that file.

const LISTEN := "127.0.0.1:7777"
const URL_FILE := "user://url.txt"

func _ready() -> void:
	var peer := SkipstoneMultiplayerPeer.new()
	peer.peer_left.connect(func(id: int, reason: String) -> void: print("peer %d left: %s" % [id, reason]))
	var error: Error
	if "--server" in OS.get_cmdline_user_args():
		error = peer.create_server(LISTEN, 32)
		if error == OK:
			var file := FileAccess.open(URL_FILE, FileAccess.WRITE)
			file.store_string(peer.get_url())
	else:
		error = peer.create_client(FileAccess.get_file_as_string(URL_FILE))
	if error != OK:
		get_tree().quit(1)
		return
	multiplayer.multiplayer_peer = peer
	multiplayer.connected_to_server.connect(func() -> void: $Chat.say.rpc_id(1, "hello from %d" % multiplayer.get_unique_id()))
	multiplayer.server_disconnected.connect(func() -> void: get_tree().quit())
