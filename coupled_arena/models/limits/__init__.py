"""When a request may be sent: the user's limits and the provider's patience.

A `limit` is what the user allows, counted in sliding `windows`; a lane slows down when the provider refuses (`lanes`,
`waits`). Both are `gates`, `admission` decides who passes them next, and `limiter` lets calls wait for that.
"""
