extends Node
# Reliable RPCs: a client says something, and the server tells everybody.

@rpc("any_peer", "call_remote", "reliable")
func say(text: String) -> void:
	hear.rpc("%d: %s" % [multiplayer.get_remote_sender_id(), text])

@rpc("authority", "call_local", "reliable")
func hear(line: String) -> void:
	print(line)
